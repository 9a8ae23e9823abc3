"""Types of the extension module; its scheduling logic is the crate podium-core."""

from typing import Final, final

__version__: Final[str]

@final
class Quantity:
    """An exact Kubernetes quantity with apimachinery's rounding and overflow.

    Args:
        value: any notation of the API (``"100m"``, ``"1.5Gi"``, ``"1e3"``), or a number of a manifest.

    Raises:
        ValueError: with the API server's text, if the text is no quantity.
        TypeError: if the value is neither str, int, float nor Quantity.

    """

    def __new__(cls, value: Quantity | str | float) -> Quantity: ...
    def value(self) -> int:
        """Return the number rounded up to an integer; overflows as upstream's ``Value()``."""

    def milli_value(self) -> int:
        """Return thousandths, rounded up; overflows as upstream's ``MilliValue()``."""

    def fits(self, scale: int) -> bool:
        """Tell whether the number in units of 10**scale fits in 64 bits, so that nothing overflows."""

    def is_integer(self) -> bool:
        """Tell whether there is no fractional part."""

    def is_zero(self) -> bool: ...
    def sign(self) -> int:
        """Return -1, 0 or 1."""

    def round_up(self, scale: int) -> Quantity:
        """Return the number rounded away from zero to a multiple of 10**scale."""

    def __add__(self, other: Quantity | str | float, /) -> Quantity: ...
    def __radd__(self, other: Quantity | str | float, /) -> Quantity: ...
    def __sub__(self, other: Quantity | str | float, /) -> Quantity: ...
    def __rsub__(self, other: str | float, /) -> Quantity: ...
    def __neg__(self) -> Quantity: ...
    def __bool__(self) -> bool: ...
    def __float__(self) -> float: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __lt__(self, other: Quantity, /) -> bool: ...
    def __le__(self, other: Quantity, /) -> bool: ...
    def __gt__(self, other: Quantity, /) -> bool: ...
    def __ge__(self, other: Quantity, /) -> bool: ...
