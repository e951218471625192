"""Loss balancing, one file each: the weight of a task's loss."""
