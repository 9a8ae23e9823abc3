"""LoadAware: places pods by what nodes really use. ``plugin`` is the place to start reading."""
