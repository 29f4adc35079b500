"""What an engine's or a store's log lines mean for the run that is on."""
