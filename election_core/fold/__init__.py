"""From one node's own lines to facts: whose they are, when its process ran, which roles it had."""
