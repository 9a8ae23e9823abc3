"""``podium plugins``."""

from podium.framework.native import NATIVE_PLUGINS

from tests.command import ask, podium


def test_lists_every_native_plugin_with_source_and_points():
    answer = ask("plugins")
    assert list(answer) == ["plugins", "rejected", "warnings"]
    native = {entry["name"]: entry for entry in answer["plugins"] if entry["source"] == "native"}
    assert set(native) == set(NATIVE_PLUGINS)
    assert "filter" in native["NodeResourcesFit"]["points"]


def test_the_table_has_a_row_for_each():
    answer = podium("plugins")
    assert answer.status == 0
    assert all(name in answer.out for name in NATIVE_PLUGINS)
