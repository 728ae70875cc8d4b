"""How property tests draw their examples.

The suite draws the same ones each time, so that a run says something about the change and not about
luck; `pytest --hypothesis-profile=search` looks for new ones.
"""

from hypothesis import settings

settings.register_profile("suite", derandomize=True)
settings.register_profile("search", derandomize=False, print_blob=True)
settings.load_profile("suite")
