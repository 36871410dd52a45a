"""Triton's names that Tritium keeps elsewhere, and those that it does not have, with the reason.

Keys are Triton's modules. Names that a Tritium module of the same path defines need no entry here, nor do the modules
of Python's library that Triton's modules import.
"""

from __future__ import annotations

ELSEWHERE: dict[str, dict[str, str]] = {
    "triton.backends": {"BaseBackend": "backends.compiler", "DriverBase": "backends.driver"},
    "triton.compiler": {"get_cache_key": "runtime.cache"},
    "triton.compiler.code_generator": {
        "BoundConstexprFunction": "frontend.constexpr_functions:ConstexprFunction",
        "BoundJITMethod": "frontend.callables:BoundJit",
        "ConstexprFunction": "frontend.constexpr_functions",
        "JITCallable": "frontend.source:JitCallable",
        "JITFunction": "runtime.jit",
        "base_type": "ir.types:Type",
        "constexpr": "language.core",
        "find_paths_if": "runtime.type_names",
        "get_full_name": "runtime.kernel_source",
        "get_iterable_path": "runtime.type_names",
        "get_jit_fn_file_line": "runtime.kernel_source",
        "is_namedtuple": "runtime.type_names",
        "knobs": ":",
        "language": ":",
        "str_to_ty": "language.core",
        "tensor": "language.core",
        "tl_tuple": "language.core:tuple",
        "_unwrap_if_constexpr": "language.core",
    },
    "triton.compiler.compiler": {
        "AsmDict": "runtime.compiled:Artefacts",
        "BaseBackend": "backends.compiler",
        "backends": "compat.triton_backends",
        "filter_traceback": "runtime.tracebacks:cleaned",
        "get_cache_invalidating_env_vars": "runtime.cache",
        "get_cache_key": "runtime.cache",
        "knobs": ":",
    },
    "triton.compiler.errors": {"TritonError": "runtime.errors"},
    "triton.language.core": {
        "JITCallable": "frontend.source:JitCallable",
        "base_type": "ir.types:Type",
        "get_primitive_bitwidth": "runtime.type_names",
        "knobs": ":",
        "tensor_descriptor_base": "language.core:tensor_descriptor",
        "tensor_descriptor_base_type": "language.core:tensor_descriptor_type",
        "validate_block_shape": "runtime.type_names",
    },
    "triton.language.extra.cuda.gdc": {"core": "language:"},
    "triton.language.extra.cuda.libdevice": {"core": "language:"},
    "triton.language.extra.cuda.utils": {"core": "language:"},
    "triton.language.math": {"core": "language:"},
    "triton.language.random": {"jit": "runtime.jit", "math": "language:", "tl": ":language"},
    "triton.language.semantic": {
        "IncompatibleTypeErrorImpl": "errors:CompilationError",
        "driver": "runtime.driver",
        "tl": ":language",
    },
    "triton.language.standard": {"core": "language:", "jit": "runtime.jit", "math": "language:"},
    "triton.language.target_info": {"driver": "runtime.driver"},
    "triton.runtime.autotuner": {
        "get_cache_invalidating_env_vars": "runtime.cache",
        "get_cache_manager": "runtime.cache",
        "knobs": ":",
        "triton_key": "runtime.cache",
    },
    "triton.runtime.driver": {"backends": "compat.triton_backends"},
    "triton.runtime.interpreter": {
        "TensorDescriptor": "runtime.descriptors",
        "TritonSemantic": "language.semantic",
        "tl": ":language",
        "triton": ":",
        "np": "runtime.arrays",
    },
    "triton.runtime.jit": {
        "BaseBackend": "backends.compiler",
        "BoundConstexprFunction": "frontend.constexpr_functions:ConstexprFunction",
        "GLUON_MODULE": "runtime.kernel_source",
        "JITCallable": "frontend.source:JitCallable",
        "JitFunctionInfo": "runtime.hooks",
        "TRITON_MODULE": "runtime.kernel_source",
        "convert_to_tuple_if_list": "runtime.type_names:tuples_of",
        "find_paths_if": "runtime.type_names",
        "get_cache_invalidating_env_vars": "runtime.cache",
        "get_cache_key": "runtime.cache",
        "get_full_name": "runtime.kernel_source",
        "get_iterable_path": "runtime.type_names",
        "get_jit_fn_file_line": "runtime.kernel_source",
        "is_namedtuple": "runtime.type_names",
        "mangle_type": "runtime.kernel_source",
        "_async_compile": "runtime:",
        "type_canonicalisation_dict": "runtime.type_names",
        "_normalize_ty": "runtime.type_names:normalized_annotation",
    },
    "triton.testing": {
        "runtime": ":",
        "tl": ":language",
        "_quantile": "runtime.benchmarking:quantile",
        "_summarize_statistics": "runtime.benchmarking:summarize",
    },
    "triton.tools.ragged_tma": {"triton": ":"},
}
"""By module and name: where it is in Tritium, as ``module`` or ``module:name``, both below ``tritium``."""

_FRONTEND = "Tritium has a front end of its own; `tritium ir FILE::KERNEL --stage tir` shows what it makes of a kernel"
_MLIR = "Tritium has no MLIR; read a kernel's tile IR with `tritium ir`"
_INTERPRETER = "Tritium's interpreter executes tile IR (`tritium.backends.interp`), not the kernel's Python"
_PTX = "there is no PTX in this version"
_INTERNAL = "it is a detail of Triton's implementation; nothing stands in its place"
_LEFT_OVER = "it is left over from a loop in Triton's module"

REFUSED_NAMES: dict[str, dict[str, str]] = {
    "triton.backends": {"T": _INTERNAL},
    "triton.backends.nvidia.compiler": {
        **dict.fromkeys(("ir", "llvm", "nvidia", "passes"), _MLIR),
        **dict.fromkeys(
            ("file_hash", "get_features", "get_ptx_version_from_options", "get_ptxas", "get_ptxas_version"),
            _PTX,
        ),
        "min_dot_size": "a dot may have any extents in Tritium",
        "ptx_get_version": _PTX,
    },
    "triton.backends.nvidia.driver": dict.fromkeys(
        (
            *("CudaLauncher", "CudaUtils", "FLOAT_PACK_FUNCTION", "FLOAT_STORAGE_TYPE", "PyCUtensorMap"),
            *(
                "TMA_DTYPE_DEVICE_TO_HOST",
                "compile_module_from_src",
                "include_dirs",
                "libcuda_dirs",
                "libraries",
            ),
            *(
                "library_dirs",
                "libdevice_dir",
                "make_launcher",
                "make_tensordesc_arg",
                "wrap_handle_tensordesc",
            ),
            "dirname",
        ),
        "Tritium builds no launchers in C; launch kernels as `kernel[grid]`",
    ),
    "triton.compiler.code_generator": {
        **dict.fromkeys(
            (
                *("ASTFunction", "CodeGenerator", "ContainsReturnChecker", "ast_to_ttir", "base_value"),
                *("check_identifier_legality", "enter_sub_region", "flatten_values_to_ir", "mangle_fn"),
                *("set_iterable_path", "unflatten_ir_values"),
            ),
            _FRONTEND,
        ),
        **dict.fromkeys(("gluon_ir", "ir"), _MLIR),
    },
    "triton.compiler.compiler": {
        **dict.fromkeys(
            (
                *("arg_type_pattern", "convert_type_repr", "prototype_pattern", "ptx_arg_type_pattern"),
                *("ptx_prototype_pattern", "get_sass"),
            ),
            _PTX,
        ),
        **dict.fromkeys(("ir", "parse"), _MLIR),
        "CompileTimer": "set knobs.compilation.listener, which is told the times",
    },
    "triton.knobs": dict.fromkeys(("ClassType", "GetType", "SetType", "knobs_type"), _INTERNAL),
    "triton.language.core": {
        **dict.fromkeys(
            (
                *("T", "TRITON_BUILTIN", "binary_op_type_legalization", "check_bit_width", "dispatch"),
                *("is_negative_zero", "slice_type"),
            ),
            _INTERNAL,
        ),
        "ir": _MLIR,
    },
    "triton.language.extra": dict.fromkeys(
        ("is_pkg", "module", "module_finder", "module_name", "modules", "spec"), _LEFT_OVER
    ),
    "triton.language.extra.cuda.utils": dict.fromkeys(
        ("convert_custom_float8", "convert_float16_to_fp8e4b15", "convert_fp8e4b15_to_float16"),
        "convert with x.to(tl.float8e4b15) and x.to(tl.float16)",
    ),
    "triton.language.math": {"T": _INTERNAL},
    "triton.language.semantic": {"T": _INTERNAL, "TensorTy": _INTERNAL, "ir": _MLIR},
    "triton.language.standard": {"sort_impl": "use tl.sort or tl.topk"},
    "triton.runtime.interpreter": dict.fromkeys(
        (
            *("ASTTransformer", "BlockPointerHandle", "ExtraFunctions", "FunctionRewriter", "GridExecutor"),
            *(
                "InterpreterBuilder",
                "InterpreterOptions",
                "ReduceOps",
                "ReduceScanOpInterface",
                "ScanOps",
                "T",
            ),
            *("TensorDescHandle", "TensorHandle", "interpreter_builder", "interpreter_semantic"),
        ),
        _INTERPRETER,
    ),
    "triton.runtime.jit": {
        **dict.fromkeys(("DependenciesFinder",), _FRONTEND),
        **dict.fromkeys(
            (
                *("T", "compute_cache_key", "create_function_from_signature", "native_specialize_impl"),
                "serialize_specialization_data",
            ),
            "ask the kernel: specs_of, launch_options and compile_for of a JITFunction",
        ),
    },
    "triton._utils": {"set_iterable_path": _FRONTEND, "k": _LEFT_OVER, "v": _LEFT_OVER},
    "triton.tools": {"LinearLayout": _MLIR},
}
"""By module and name: why Tritium does not have it, or what to use instead."""
