"""`python -m limpet` is `limpet`."""

from limpet.cli.commands import main

main()
