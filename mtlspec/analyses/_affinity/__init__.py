"""Task affinity: who would help whom, estimated in one short joint training."""
