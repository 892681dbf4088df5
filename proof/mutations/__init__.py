"""Small changes of the rules, the clock, the fold, the checkpoint and the gates, and which of them no test notices."""
