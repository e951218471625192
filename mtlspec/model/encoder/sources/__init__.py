"""Where an encoder comes from, one file each."""
