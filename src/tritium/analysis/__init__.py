"""Facts about tile IR. An analysis reads, never changes."""
