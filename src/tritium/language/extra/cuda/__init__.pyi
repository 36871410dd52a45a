# Written by `python -m tritium.language.stubs`; do not edit.
from tritium.language.extra.cuda import libdevice as libdevice

