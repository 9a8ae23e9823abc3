from __future__ import annotations

from pathlib import Path

from tests.parity.coverage import Coverage
from tests.parity.journal import append, piece, read, still_to_play

PIECES = [(1, 50), (51, 50), (101, 20)]


def _coverage(rejected: int) -> Coverage:
    coverage = Coverage(scenarios=50, pods=120, pairs=900)
    coverage.rejected["NodePorts"] = rejected
    return coverage


def test_what_was_played_is_not_played_again(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    assert still_to_play(journal, "A", PIECES) == PIECES
    append(journal, piece("A", 51, 50, [], _coverage(3)))
    append(journal, piece("B", 1, 50, [], _coverage(3)))
    assert still_to_play(journal, "A", PIECES) == [(1, 50), (101, 20)]


def test_what_differed_is_played_again_and_the_last_word_counts(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    append(journal, piece("A", 1, 50, [17], _coverage(3)))
    assert (1, 50) in still_to_play(journal, "A", PIECES)
    append(journal, piece("A", 1, 50, [], _coverage(4)))
    assert (1, 50) not in still_to_play(journal, "A", PIECES)
    [entry] = read(journal)
    assert entry.differing == []
    assert entry.counted() == _coverage(4)


def test_there_need_be_no_journal(tmp_path: Path) -> None:
    assert read(tmp_path / "none.jsonl") == []
