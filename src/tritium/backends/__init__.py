"""Backends: what runs or translates tile IR, one package each."""
