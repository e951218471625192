"""Important attention-head pruning: what tasks lose without the heads of each task."""
