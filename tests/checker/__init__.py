"""An independent judge of ``podium simulate``: plain Python over manifests, sharing no code with Podium."""

from tests.checker.judge import check, feasible
from tests.checker.rules import RULES, Violation

__all__ = ["RULES", "Violation", "check", "feasible"]
