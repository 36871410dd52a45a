"""``tl.math``: the elementwise functions that have a second name there."""

from tritium.language.functions import functions_of, publish

publish(globals(), functions_of("math"))
