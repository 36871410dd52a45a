"""The native CPU backend against references and against the interpreter."""
