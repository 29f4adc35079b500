"""Confounds that are planted on the lab, one at a time, to see whether kvtui finds each."""
