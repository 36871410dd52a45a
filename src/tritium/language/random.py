"""``tl.random``: Philox random numbers."""

from tritium.language.functions import functions_of

N_ROUNDS_DEFAULT = 10
_NAMES = (
    "philox philox_impl pair_uniform_to_normal rand rand4x randint randint4x randn randn4x uint_to_uniform_float"
).split()

globals().update({name: fn for name, fn in functions_of("tl").items() if name in _NAMES})
__all__ = _NAMES  # noqa: PLE0605
