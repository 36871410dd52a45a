"""NVIDIA GPUs: machine IR to CUDA C++."""
