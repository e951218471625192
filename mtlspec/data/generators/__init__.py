"""Corpus generators, one file each: a grammar and a seed become annotated files."""
