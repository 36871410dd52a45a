"""The builder puts ops where it is told, with the location it is told."""

from __future__ import annotations

import pytest

from tritium.errors import Loc
from tritium.ir.builder import Builder
from tritium.ir.core import Op, Region
from tritium.ir.types import int32
from tritium.ops.create import Constant


def constant(value: int, loc: Loc | None = None) -> Constant:
    return Constant(value=value, type=int32, loc=loc)


def numbers(region: Region) -> list[int]:
    return [op.attrs["value"] for op in region.ops]


def test_ops_are_appended_in_order() -> None:
    region = Region()
    builder = Builder(region)
    made = [builder.insert(constant(i)) for i in range(3)]
    assert region.ops == made and all(op.parent is region for op in made)


def test_before_puts_ops_in_front_and_comes_back() -> None:
    region = Region()
    builder = Builder(region)
    builder.insert(constant(0))
    last = builder.insert(constant(9))
    with builder.before(last):
        builder.insert(constant(1))
        builder.insert(constant(2))
    builder.insert(constant(10))
    assert numbers(region) == [0, 1, 2, 9, 10]


def test_into_goes_to_the_end_of_another_region_and_comes_back() -> None:
    outer, inner = Region(), Region()
    builder = Builder(outer)
    anchor = builder.insert(constant(5))
    with builder.before(anchor):
        with builder.into(inner) as region:
            assert region is inner
            builder.insert(constant(1))
            builder.insert(constant(2))
        builder.insert(constant(3))
    assert numbers(inner) == [1, 2] and numbers(outer) == [3, 5]


@pytest.mark.parametrize("place", ["into", "before"])
def test_an_error_within_a_block_restores_the_place(place: str) -> None:
    outer = Region()
    builder = Builder(outer)
    anchor: Op = builder.insert(constant(0))
    with pytest.raises(KeyError), builder.into(Region()) if place == "into" else builder.before(anchor):
        raise KeyError
    builder.insert(constant(1))
    assert numbers(outer) == [0, 1]


def test_locations_are_stamped_on_ops_that_have_none() -> None:
    here, there, own = (Loc("k.py", line) for line in (1, 2, 3))
    builder = Builder(Region(), here)
    with builder.at(there):
        assert builder.insert(constant(0)).loc is there
        assert builder.insert(constant(0, own)).loc is own
        with builder.at(None):
            assert builder.insert(constant(0)).loc is there
    assert builder.insert(constant(0)).loc is here
