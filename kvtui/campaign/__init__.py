"""Carrying a plan out on nodes: steps that can be repeated, and the record of each."""
