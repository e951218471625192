"""A run as a package for reviewers: `mtlspec registry export`."""
