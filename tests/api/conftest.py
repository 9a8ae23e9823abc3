from pathlib import Path

import pytest

SHARED = Path("..") / "shared"


@pytest.fixture
def shared():
    if not SHARED.is_dir():
        pytest.skip("the shared case bank is not beside the project")
    return SHARED
