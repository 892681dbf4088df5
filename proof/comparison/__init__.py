"""Other ways to judge the same real runs: what they find, miss and cost beside this project."""
