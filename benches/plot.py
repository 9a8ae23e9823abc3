"""Draws what ``benches.growth`` measured: ``python -m benches.plot FILE.json FILE.svg``."""

import json
import sys
from pathlib import Path

import altair as alt


def chart(points: list[dict[str, str | int | float]]) -> alt.LayerChart:
    """Return time per pod over nodes, both logarithmic, a line per scenario."""
    lines = alt.Chart(alt.InlineData(values=points)).encode(
        x=alt.X("nodes:Q", scale=alt.Scale(type="log"), title="nodes"),
        y=alt.Y("microseconds:Q", scale=alt.Scale(type="log"), title="CPU time per pod, µs"),
        color=alt.Color("scenario:N", title="scenario"),
    )
    return (lines.mark_line() + lines.mark_point(filled=True)).properties(width=480, height=300)


if __name__ == "__main__":
    chart(json.loads(Path(sys.argv[1]).read_text())).save(sys.argv[2])
