"""How stages are run: in one process, on warm workers, and with DVC as the judge and the book-keeper."""
