"""Sharing strategies, one file each: what of the encoder the tasks share, and how."""
