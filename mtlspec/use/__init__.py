"""Trained models and their results in use: predictions on new text, export, and frames of what a run found."""
