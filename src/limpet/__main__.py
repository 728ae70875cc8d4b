"""`python -m limpet` is `limpet`."""

from limpet.cli import main

main()
