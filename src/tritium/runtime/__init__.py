"""From a call in Python to a running kernel: arguments, specialisation, compilation, launch, tuning."""
