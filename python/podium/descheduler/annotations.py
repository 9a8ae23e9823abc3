"""The annotations of pods that the descheduler reads."""

from typing import Final

#: Present with any value, also "false", makes a pod evictable whatever else holds.
EVICT: Final = "descheduler.alpha.kubernetes.io/evict"
PREFER_NO_EVICTION: Final = "descheduler.alpha.kubernetes.io/prefer-no-eviction"
MIRROR: Final = "kubernetes.io/config.mirror"
SOURCE: Final = "kubernetes.io/config.source"

READ: Final = (EVICT, PREFER_NO_EVICTION, MIRROR, SOURCE)
