"""Whether a run measured what it says: what else was at work while its passes went on, by its own record.

What the record does not tell is unknown, and gives no finding.
"""
