"""What the screens and commands ask for, done for real."""
