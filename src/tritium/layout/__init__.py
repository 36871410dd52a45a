"""Where tile elements live: registers of threads, tensor-core fragments, shared memory. Pure arithmetic."""

from tritium.layout.digits import Coverage, Digit, Layout, Swizzle
from tritium.layout.emission import Code, CText, IndexEmitter
from tritium.layout.faults import LayoutError
from tritium.layout.memory_access import BankConflicts
from tritium.layout.register import (
    CUDA_DOT_MAX_THREADS,
    CudaRegisterTileLayout,
    CudaRegisterTileRef,
    seed_dot_thread_shape,
    seed_elementwise_thread_shape,
)
from tritium.layout.relation import Relation, register_map
from tritium.layout.shared import (
    SEED_SHARED_LIMIT,
    CudaDotSharedBuffers,
    CudaSharedBuffer,
    fit_stages,
    require_shared_budget,
    seed_row_padding,
)

__all__ = [
    "CUDA_DOT_MAX_THREADS",
    "SEED_SHARED_LIMIT",
    "BankConflicts",
    "CText",
    "Code",
    "Coverage",
    "CudaDotSharedBuffers",
    "CudaRegisterTileLayout",
    "CudaRegisterTileRef",
    "CudaSharedBuffer",
    "Digit",
    "IndexEmitter",
    "Layout",
    "LayoutError",
    "Relation",
    "Swizzle",
    "fit_stages",
    "register_map",
    "require_shared_budget",
    "seed_dot_thread_shape",
    "seed_elementwise_thread_shape",
    "seed_row_padding",
]
