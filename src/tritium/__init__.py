"""Tritium: a compiler for the Triton language."""
