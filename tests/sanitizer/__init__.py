"""The sanitizer: every finding on a broken kernel, none on its right twin."""
