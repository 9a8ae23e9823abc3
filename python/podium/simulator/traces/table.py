"""CSV files with a header, whose errors name the file, the line and the column."""

import csv
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from podium.errors import InputError


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table; a column that the file does not have reads as empty."""

    source: str
    cells: dict[str, str]

    def text(self, column: str) -> str:
        """Return a cell without surrounding space."""
        return self.cells.get(column, "").strip()

    def name(self, column: str) -> str:
        """Return a text that must not be empty."""
        text = self.text(column)
        if not text:
            raise self.problem(column, "is empty")
        return text

    def integer(self, column: str) -> int:
        """Return a non-negative integer: 0 where the file has no such column, an error where it is empty."""
        if column not in self.cells:
            return 0
        text = self.text(column)
        if not (text.isascii() and text.isdigit()) or len(text) > 18:
            raise self.problem(column, f"is {text!r}, expected an integer from 0 to 10^18")
        return int(text)

    def seconds(self, column: str) -> float | None:
        """Return a non-negative time; None where it is empty or the file has no such column."""
        text = self.text(column)
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0.0 <= value < float("inf"):
            raise self.problem(column, f"is {text!r}, expected seconds, at least 0")
        return value

    def problem(self, column: str, what: str) -> InputError:
        """Make the error that says what is wrong with a cell."""
        return InputError(f"{self.source}: column {column} {what}")


def rows(path: str, required: Collection[str]) -> Iterator[Row]:
    """Yield the rows of a CSV file (UTF-8, header first). Raises InputError: what is wrong, and where."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            yield from _parse(path, file, required)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a text file: byte {error.start} is not UTF-8") from error


def _parse(path: str, file: Iterable[str], required: Collection[str]) -> Iterator[Row]:
    reader = csv.reader(file, strict=True)
    try:
        header = [column.strip() for column in next(reader, [])]
        missing = [column for column in required if column not in header]
        if missing:
            raise InputError(
                f"{path}:1: no column {', '.join(missing)}; the header is {','.join(header)[:200]!r}"
            )
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(header):
                raise InputError(
                    f"{path}:{reader.line_num}: {len(cells)} columns, the header has {len(header)}"
                )
            yield Row(f"{path}:{reader.line_num}", dict(zip(header, cells, strict=True)))
    except csv.Error as error:
        raise InputError(f"{path}:{reader.line_num}: not CSV: {error}") from error
