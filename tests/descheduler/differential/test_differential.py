"""A few random scenarios against the real descheduler; many with ``make parity-descheduler``."""

import re

from tests.descheduler.differential import refusals
from tests.descheduler.differential.run import is_equal, verdicts

#: Upstream builds plugins in random order, so which of several it complains about is random too.
_ANY = re.compile(r"unable to build (\w+) plugin: unable to find \"\1\" plugin config")


def test_the_same_evictions(oracle):
    different = [verdict.text for item, verdict in verdicts(oracle, 0, 40) if not is_equal(item, verdict)]
    assert not different, "\n".join(different)


def test_the_same_refusals(oracle):
    seeds = range(150)
    answers = oracle.answers([refusals.request(seed) for seed in seeds])
    different = [
        (seed, theirs, ours)
        for seed, answer in zip(seeds, answers, strict=True)
        if _plain(theirs := answer.get("refused", "")) != _plain(ours := refusals.refusal(seed))
    ]
    assert not different
    assert any(refusals.refusal(seed) for seed in seeds)


def _plain(text):
    return _ANY.sub("unable to build a plugin", text)
