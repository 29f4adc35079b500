"""What the Live screen shows, as pure functions of a run's events."""
