"""What every kind promises, tried out: our own tests and `mtlspec doctor --kinds` ask the same of all kinds."""
