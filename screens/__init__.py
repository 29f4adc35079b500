"""Screens of the terminal app, one module a screen."""
