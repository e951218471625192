"""Who helps whom: tables, the graph of benefit, relative improvements, and what pairs tell of all tasks together."""
