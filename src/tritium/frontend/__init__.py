"""Python source of kernels to tile IR."""

from tritium.frontend.aggregates import aggregate
from tritium.frontend.callables import Builtin
from tritium.frontend.captures import Capture
from tritium.frontend.constexpr_functions import ConstexprFunction, constexpr_function
from tritium.frontend.lower import Lowered, lower, lower_kernel
from tritium.frontend.signature import Constant, DescriptorOf, RunTime, Signature, TupleOf, parse_type
from tritium.frontend.source import JitCallable, KernelSource, Parameter

__all__ = [
    "Builtin",
    "Capture",
    "Constant",
    "ConstexprFunction",
    "DescriptorOf",
    "JitCallable",
    "KernelSource",
    "Lowered",
    "Parameter",
    "RunTime",
    "Signature",
    "TupleOf",
    "aggregate",
    "constexpr_function",
    "lower",
    "lower_kernel",
    "parse_type",
]
