"""Kernels with references, shared by every test tier; `protocol.all_cases()` lists them."""
