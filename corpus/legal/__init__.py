"""The legal kinds: one module each, a model of the facts and the way it is written out."""
