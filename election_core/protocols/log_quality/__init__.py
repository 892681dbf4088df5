"""No protocol of any system: what the logs themselves are worth as witnesses."""
