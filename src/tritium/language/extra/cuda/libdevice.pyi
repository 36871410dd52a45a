# Written by `python -m tritium.language.stubs`; do not edit.
from tritium.language.extra.libdevice import *
