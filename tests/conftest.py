"""What all tests share."""

from hypothesis import settings

# How long an example takes depends on the machine and says nothing about the code.
settings.register_profile("podium", deadline=None)
settings.load_profile("podium")
