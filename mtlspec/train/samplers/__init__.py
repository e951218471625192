"""Task samplers, one file each: which task gives the next batch."""
