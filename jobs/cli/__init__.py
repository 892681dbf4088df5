"""The command line: commands, progress, messages, and the summary of a run."""
