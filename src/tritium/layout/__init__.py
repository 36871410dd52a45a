"""Where tile elements live: registers of threads, tensor-core fragments, shared memory. Pure arithmetic."""

from tritium.layout.coverage import Coverage
from tritium.layout.digits import Digit, Layout
from tritium.layout.emission import Code, CText, IndexEmitter
from tritium.layout.faults import LayoutError
from tritium.layout.memory_access import BankConflicts
from tritium.layout.panels import TmaBox, WgmmaOperand, panel_boxes, panel_rows, tma_box_faults, wgmma_operand
from tritium.layout.policies import (
    RegisterTile,
    axis_names,
    dot_register_tile,
    flat_register_tile,
    register_tile,
)
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
from tritium.layout.shared_choice import (
    SharedAccess,
    SharedChoice,
    choose_padding,
    choose_shared,
    padded_rows,
)
from tritium.layout.swizzle import Swizzle

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
    "RegisterTile",
    "Relation",
    "SharedAccess",
    "SharedChoice",
    "Swizzle",
    "TmaBox",
    "WgmmaOperand",
    "axis_names",
    "choose_padding",
    "choose_shared",
    "dot_register_tile",
    "fit_stages",
    "flat_register_tile",
    "padded_rows",
    "panel_boxes",
    "panel_rows",
    "register_map",
    "register_tile",
    "require_shared_budget",
    "seed_dot_thread_shape",
    "seed_elementwise_thread_shape",
    "seed_row_padding",
    "tma_box_faults",
    "wgmma_operand",
]
