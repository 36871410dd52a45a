"""``tl.extra.libdevice``: mathematical functions beyond those of ``tl``."""

from tritium.language.functions import functions_of

globals().update(functions_of("libdevice"))
__all__ = sorted(functions_of("libdevice"))  # noqa: PLE0605
