"""The statistics, without a run."""
