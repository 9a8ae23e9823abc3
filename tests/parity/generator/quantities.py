"""Amounts of resources, and the many ways to write one."""

from __future__ import annotations

from tests.parity.generator.chooser import Chooser, chance

Amounts = dict[str, int]  # cpu in thousandths, everything else in units

MI = 1 << 20
GI = 1 << 30
BINARY = (("Gi", GI), ("Mi", MI), ("Ki", 1 << 10))
DECIMAL = (("G", 10**9), ("M", 10**6), ("k", 10**3))

CPU_REQUESTS = (100, 250, 500, 100, 0, 50, 1, 10, 333, 750, 1500, 1000)
MEMORY_REQUESTS = (
    64 * MI, 128 * MI, 256 * MI, 512 * MI, 0, 1, 200 * MI, GI, 3 * GI // 2, 2 * GI, 10**8, 123456789,
)  # fmt: skip


def spell(c: Chooser, resource: str, amount: int, *, odd: bool) -> str:
    """Write an amount as a Kubernetes quantity; oddly, in one of the forms that users are surprised by."""
    if resource == "cpu":
        return _cpu(c, amount, odd=odd)
    return _units(c, amount, odd=odd)


def _cpu(c: Chooser, milli: int, *, odd: bool) -> str:
    whole = milli % 1000 == 0
    if not odd:
        return str(milli // 1000) if whole else f"{milli}m"
    forms = [f"{milli}m", f"{milli / 1000:.3f}", f"{milli}e-3", f"+{milli}m"]
    if whole:
        forms += [str(milli // 1000), f"{milli // 1000}.0", f"{milli // 1000}e0"]
    return c.pick(forms)


def _units(c: Chooser, units: int, *, odd: bool) -> str:
    forms = [f"{units // size}{suffix}" for suffix, size in BINARY if units and units % size == 0]
    if not odd:
        return forms[0] if forms else str(units)
    forms += [f"{units // size}{suffix}" for suffix, size in DECIMAL if units and units % size == 0]
    forms += [str(units), f"{units}000m"]
    if units and units % 1000 == 0:
        forms += [f"{units // 1000}e3", f"{units // 1000}E3"]
    if units and units % (512 * MI) == 0:
        forms.append(f"{units / GI:.1f}Gi")
    return c.pick(forms)


def spelled(c: Chooser, amounts: Amounts, *, odd: bool) -> dict[str, str]:
    """Write a resource list."""
    return {name: spell(c, name, amount, odd=odd) for name, amount in amounts.items()}


def huge(c: Chooser) -> dict[str, str]:
    """Requests near and beyond the ends of int64."""
    resource = c.pick(("memory", "cpu"))
    amount = c.pick(("5Ei", "7Ei", "9223372036854775807") if resource == "memory" else ("1P", "1E", "9e15"))
    return {resource: amount, **({"cpu": "1"} if resource == "memory" and chance(c, 50) else {})}
