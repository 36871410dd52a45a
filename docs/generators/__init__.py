"""Writes the pages of this folder that are made by running the compiler: ``python -m docs.generators``.

A page whose facts could go stale is not written by hand: tables come from the type rules, values from kernels that are
run, the walk through the pipeline from a compilation. ``--check`` says which pages are out of date and writes nothing.
"""
