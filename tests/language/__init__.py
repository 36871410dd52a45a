"""Types, refusals, syntax and values of the language, checked against recorded facts of compiled Triton 3.6."""
