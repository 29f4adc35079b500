"""Dialogs: questions, messages, help."""
