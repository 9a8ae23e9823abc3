"""``python -m podium`` is the command ``podium``."""

from podium.cli import main

main()
