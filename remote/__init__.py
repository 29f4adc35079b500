"""The nodes: SSH links, detached processes, engines, the store, the probe, and the lab."""
