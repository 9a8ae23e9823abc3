"""The order in which an answer's placements were decided."""


def ordered(answer: dict) -> list[dict]:
    """Placements in decision order: by turn where every one has its attempt, else by time and position.

    A bind may come later than its decision, so a turn says more than ``at``; without attempts (large
    runs) the list itself is in the order of binding. Pods that were placed and evicted again are known
    from their attempts.
    """
    placements = list(answer.get("placements") or [])
    gone = {e["pod"] for e in answer.get("evicted") or []} - {p["pod"] for p in placements}
    tries = [a for a in answer.get("attempts") or [] if a["result"] == "scheduled"]
    turns = {a["pod"]: a["turn"] for a in tries}
    everything = placements + [a for a in tries if a["pod"] in gone and a.get("node")]
    if all(p["pod"] in turns for p in everything):
        return sorted(everything, key=lambda p: turns[p["pod"]])
    return sorted(everything, key=lambda p: p.get("at") or 0.0)
