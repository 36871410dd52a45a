"""``tl.semantic``: the rules by which arguments become ops, under the name that Triton gives them."""

from tritium.ops.semantic import Semantic

TritonSemantic = Semantic

__all__ = ["Semantic", "TritonSemantic"]
