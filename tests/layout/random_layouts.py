"""Random layouts for the property tests: any extents and steps, replication, overhang, several outputs, swizzles."""

from __future__ import annotations

from hypothesis import strategies as st

from tritium.layout import Digit, Layout, Swizzle

extents = st.sampled_from([1, 2, 3, 4, 5, 7, 8, 12, 16])


@st.composite
def layouts(draw, inputs=("reg", "lane", "warp"), outputs=("row", "col"), most=4000):
    """Any digits at all: nothing is said about what they cover."""
    digits, places = [], 1
    for axis in inputs:
        for _ in range(draw(st.integers(0, 3))):
            extent = draw(extents)
            if places * extent <= most and (axis != "lane" or lanes_of(digits) * extent <= 32):
                steps = {name: draw(st.sampled_from([0, 0, 1, 2, 3, 4, 8, 24, 32])) for name in outputs}
                digits.append(Digit(axis, extent, steps))
                places *= extent
    shape = {name: draw(st.integers(1, 40)) for name in outputs}
    return Layout(tuple(digits), shape, tuple(inputs))


def lanes_of(digits):
    count = 1
    for digit in digits:
        count *= digit.extent if digit.axis == "lane" else 1
    return count


@st.composite
def exact_tilings(draw, shape=None, names=("row", "col")):
    """A layout that holds every element of a tile exactly once: each axis cut into factors, dealt to the inputs."""
    if shape is None:
        shape = draw(st.tuples(*[st.sampled_from([1, 2, 3, 4, 5, 6, 8, 12, 16, 24])] * len(names)))
    digits = []
    for name, extent in zip(names, shape):
        step = 1
        while extent > 1:
            factor = draw(st.sampled_from([f for f in range(2, extent + 1) if extent % f == 0]))
            axis = draw(st.sampled_from(["reg", "lane", "warp"]))
            if axis == "lane" and lanes_of(digits) * factor > 32:
                axis = "reg"
            digits.append(Digit(axis, factor, {name: step}))
            step *= factor
            extent //= factor
    digits = draw(st.permutations(digits))
    return Layout(tuple(digits), dict(zip(names, shape)), ("reg", "lane", "warp"))


swizzles = st.builds(
    lambda bits, base, extra: Swizzle(bits, base, bits + extra),
    st.integers(1, 3),
    st.integers(0, 5),
    st.integers(0, 2),
)


@st.composite
def memories(draw):
    """Byte layouts over row, col and stage, some of them swizzled."""
    layout = draw(layouts(("row", "col", "stage"), ("byte",)))
    swizzle = draw(st.none() | swizzles)
    return Layout(layout.digits, {"byte": draw(st.integers(1, 5000))}, layout.inputs, swizzle)
