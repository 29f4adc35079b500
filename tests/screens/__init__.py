"""Tests of screens and of the app."""
