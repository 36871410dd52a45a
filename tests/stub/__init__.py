"""The launch stub: that it launches what the long way would, gives references back, and gives way where it must."""
