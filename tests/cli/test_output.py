"""JSON on standard output: valid, whole, a line per element."""

import msgspec
import pytest
from podium.api.manifest import Note
from podium.cli.output import print_json, progress, say_notes, with_notes


def printed(capsys, answer):
    print_json(answer)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "answer",
    [
        {"pods": []},
        {"pods": [{"a": 1}, {"b": [1, 2]}], "stats": {"x": None}, "rejected": []},
        {"text": 'quotes " and ünïcode', "number": 1.5},
    ],
)
def test_what_is_printed_is_the_answer(capsys, answer):
    assert msgspec.json.decode(printed(capsys, answer)) == answer


def test_iterators_are_lists(capsys):
    assert msgspec.json.decode(printed(capsys, {"pods": iter([1, 2]), "none": iter([])})) == {
        "pods": [1, 2],
        "none": [],
    }


def test_every_element_of_a_list_has_a_line(capsys):
    lines = printed(capsys, {"pods": [{"name": f"p{n}"} for n in range(3)]}).splitlines()
    assert [line.strip(" ,") for line in lines if "name" in line] == [f'{{"name":"p{n}"}}' for n in range(3)]


def test_every_answer_ends_with_what_was_rejected_and_warned_of():
    note = Note("Pod a/b", "file:1", "no")
    answer = with_notes({"x": 1}, [note], [])
    assert list(answer) == ["x", "rejected", "warnings"]
    assert answer["rejected"] == [{"object": "Pod a/b", "source": "file:1", "message": "no"}]


def test_notes_of_one_text_share_a_line_on_the_screen(capsys):
    notes = [Note(f"Pod a/p{n}", f"f:{n}", f'Pod "p{n}" is invalid: spec: no') for n in range(30)]
    say_notes(notes, [Note("Node n", "", "odd")])
    assert capsys.readouterr().err.splitlines() == [
        "rejected: Pod a/p0 (f:0) and 29 more: spec: no",
        "warning: Node n: odd",
    ]


def test_many_different_notes_are_cut_on_the_screen(capsys):
    say_notes([Note("Pod a/b", "f:1", f"reason {n}") for n in range(30)], [])
    err = capsys.readouterr().err.splitlines()
    assert len(err) == 13
    assert err[-1] == "rejected: … and 18 more kinds of it; -o json has them all"


def test_no_bar_where_nobody_looks(capsys):
    with progress("working", 10) as moved:
        assert moved is None
    assert capsys.readouterr() == ("", "")
