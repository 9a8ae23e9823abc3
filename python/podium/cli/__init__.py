"""The command ``podium``: one file per subcommand, a table name → command, loaded when it is asked for."""

from podium.cli.root import main

__all__ = ["main"]
