"""mtlspec: declarative, reproducible multi-task-learning experiments with transformer encoders."""
