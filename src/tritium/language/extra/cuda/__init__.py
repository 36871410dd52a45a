"""``tl.extra.cuda``: what only NVIDIA GPUs have, and the device library under its full name."""

from tritium.language.extra.cuda import libdevice
from tritium.language.functions import functions_of, publish

__all__ = ["libdevice"]

publish(globals(), functions_of("cuda"), __all__)
