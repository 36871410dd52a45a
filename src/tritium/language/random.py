"""``tl.random``: Philox random numbers."""

from tritium.language.functions import functions_of, publish

N_ROUNDS_DEFAULT = 10

_NAMES = frozenset(
    {
        "pair_uniform_to_normal",
        "philox",
        "philox_impl",
        "rand",
        "rand4x",
        "randint",
        "randint4x",
        "randn",
        "randn4x",
        "uint_to_uniform_float",
    }
)

publish(
    globals(), {name: fn for name, fn in functions_of("tl").items() if name in _NAMES}, ["N_ROUNDS_DEFAULT"]
)
