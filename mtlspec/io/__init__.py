"""Files: digests, atomic writes, manifests, locks and the project's places."""
