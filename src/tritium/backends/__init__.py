"""Executing sides of the compiler: the interpreter, native CPU code, NVIDIA GPUs."""
