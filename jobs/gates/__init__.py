"""Gates: the checks of tables, the clusters that they block, and pages with their results."""
