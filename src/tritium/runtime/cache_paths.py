"""Where cached files live."""

from __future__ import annotations

from pathlib import Path

from tritium import config


def cache_directory() -> Path:
    """TRITIUM_CACHE_DIR, else TRITON_CACHE_DIR, else ``tritium/cache`` under TRITON_HOME or the user's cache folder."""
    for name in ("tritium_cache_dir", "triton_cache_dir"):
        given = config.get(name)
        if given:
            return Path(given).expanduser()
    home = config.get("triton_home")
    return Path(home).expanduser() / ".tritium" / "cache" if home else Path.home() / ".cache" / "tritium"
