"""``tl.extra.cuda.libdevice``: the same functions as ``tl.extra.libdevice``."""

from tritium.language.functions import functions_of

globals().update(functions_of("libdevice"))
__all__ = sorted(functions_of("libdevice"))  # noqa: PLE0605
