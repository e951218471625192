"""Readers, one file a format: they stream sentences and name every defect with its line."""
