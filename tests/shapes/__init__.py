"""Real log lines in the shapes that production gives them."""
