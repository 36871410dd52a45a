"""``tl.extra.cuda``: what only NVIDIA GPUs have, and the device library under its full name."""

from tritium.language.extra.cuda import libdevice
from tritium.language.functions import functions_of

globals().update(functions_of("cuda"))
__all__ = ["libdevice", *sorted(functions_of("cuda"))]  # noqa: PLE0604
