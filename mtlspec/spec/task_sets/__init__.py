"""Task sets, one file a kind: which tasks the models of a group learn together."""
