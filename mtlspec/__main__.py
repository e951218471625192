"""`python -m mtlspec`."""

from mtlspec.cli import main

main()
