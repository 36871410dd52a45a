"""All ops of tile IR, one class each; importing this package fills the registries.

Every module in this folder is loaded, so a new op is one new file and no other edit.
"""

import importlib
import pkgutil

for _module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")
