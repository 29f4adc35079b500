"""Tests in a real terminal, which tmux holds."""
