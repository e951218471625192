"""Cards guessed from files: the format, the columns and what they hold, the splits beside a file."""
