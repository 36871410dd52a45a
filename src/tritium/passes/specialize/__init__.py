"""Specialisations: pure matchers that give a plan or a reason, and what applies the plans."""
