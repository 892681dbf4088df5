"""From one node's own lines to facts: its identity, its process runs and its roles."""
