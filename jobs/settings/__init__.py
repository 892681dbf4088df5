"""The settings: allowed values, defaults, and the file in force."""
