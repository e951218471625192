"""Metrics that a project brings in `kinds/metrics`, one file each, as `METRIC`; ours are listed in `rebuild.py`."""
