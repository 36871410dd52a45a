"""``tl.extra.libdevice``: mathematical functions beyond those of ``tl``."""

from tritium.language.functions import functions_of, publish

publish(globals(), functions_of("libdevice"))
