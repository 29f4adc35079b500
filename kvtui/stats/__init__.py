"""Statistics of a run: pure functions of numbers, whose errors ``docs/statistics.md`` shows."""
