"""``triton.tools.tensor_descriptor``: tensor descriptors made on the host and passed to kernels."""

from tritium.runtime.descriptors import TensorDescriptor
from tritium.runtime.type_names import validate_block_shape

__all__ = ["TensorDescriptor", "validate_block_shape"]
