"""``tl.extra.cuda.libdevice``: the same functions as ``tl.extra.libdevice``."""

from tritium.language.functions import functions_of, publish

publish(globals(), functions_of("libdevice"))
