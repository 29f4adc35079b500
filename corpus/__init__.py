"""The documents of a run: made from a seed, cut to exact token counts."""
