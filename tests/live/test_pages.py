"""The memory pages of ``podium run``."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="huge pages are asked about on Linux alone")
def test_a_process_without_huge_pages():
    code = "from podium.live.pages import use_small_pages; use_small_pages()"
    code += "; print(open('/proc/self/status').read())"
    status = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert ["THP_enabled:", "0"] in [line.split() for line in status.splitlines()]
