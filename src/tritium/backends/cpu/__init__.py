"""Native code for the host: tile IR to vector loops in LLVM IR text, compiled by llvmlite, run on all cores.

A tile value is *fused* (its elements are computed where a consumer's loop asks for them) or *materialised* (in a scratch
arena that each worker owns); `plan` decides, `lower` walks the kernel, `code` holds the instructions, `jit` compiles.
"""
