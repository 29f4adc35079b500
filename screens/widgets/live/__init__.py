"""The panels of the Live screen, one a module."""
