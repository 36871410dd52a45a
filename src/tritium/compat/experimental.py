"""``triton.experimental``: in Triton it holds Gluon, which Tritium refuses."""
