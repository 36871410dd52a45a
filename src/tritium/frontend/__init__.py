"""Python source to tile IR. The kernel is parsed, never run as Python."""
