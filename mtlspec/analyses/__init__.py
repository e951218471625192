"""Analyses, one file each: they read artifacts of models and write tables and figures."""
