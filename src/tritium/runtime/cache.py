"""``triton.runtime.cache``: file caches as programs that plug in their own expect them, and the compiler's identity."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import tempfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from tritium.runtime.cache_paths import cache_directory


class CacheManager(ABC):
    """A store of files by name under one key."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        self.key = key

    @abstractmethod
    def get_file(self, filename: str) -> str | None:
        """Path of a stored file, or None."""

    @abstractmethod
    def put(self, data: Any, filename: str, binary: bool = True) -> str:
        """Store and give the path."""

    @abstractmethod
    def get_group(self, filename: str) -> dict[str, str] | None:
        """Paths of a stored group of files, or None."""

    @abstractmethod
    def put_group(self, filename: str, group: dict[str, str]) -> str:
        """Store which files form a group."""


class FileCacheManager(CacheManager):
    """Files in a folder named by the key; every write is a rename, so readers never see half a file."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        super().__init__(key, override, dump)
        self.cache_dir = cache_directory() / key

    def _path(self, filename: str) -> Path:
        return self.cache_dir / filename

    def has_file(self, filename: str) -> bool:
        return self._path(filename).is_file()

    def get_file(self, filename: str) -> str | None:
        return str(self._path(filename)) if self.has_file(filename) else None

    def put(self, data: Any, filename: str, binary: bool = True) -> str:
        content = data if isinstance(data, bytes) else str(data).encode()
        self.cache_dir.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self.cache_dir, prefix=".writing-")
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(content)
            os.replace(name, self._path(filename))
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
        return str(self._path(filename))

    def get_group(self, filename: str) -> dict[str, str] | None:
        import json

        path = self.get_file(f"__grp__{filename}")
        if path is None:
            return None
        try:
            names = json.loads(Path(path).read_text())["children"]
        except (OSError, ValueError, KeyError):
            return None
        return {n: str(self._path(n)) for n in names if self.has_file(n)}

    def put_group(self, filename: str, group: dict[str, str]) -> str:
        import json

        return self.put(json.dumps({"children": sorted(group)}), f"__grp__{filename}", binary=False)


class RemoteCacheBackend(ABC):
    """A remote store that programs may implement."""

    def __init__(self, key: str) -> None:
        self.key = key

    @abstractmethod
    def get(self, filenames: list[str]) -> dict[str, bytes]: ...

    @abstractmethod
    def put(self, filename: str, data: bytes) -> None: ...


class RedisRemoteCacheBackend(RemoteCacheBackend):
    """Keeps files in Redis (needs the ``redis`` package)."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        import redis  # type: ignore[import-not-found]

        from tritium import knobs

        self._redis = redis.Redis(host=knobs.redis.host, port=knobs.redis.port)
        self._format = knobs.redis.key_format

    def _name(self, filename: str) -> str:
        return self._format.format(key=self.key, filename=filename)

    def get(self, filenames: list[str]) -> dict[str, bytes]:
        found = self._redis.mget([self._name(f) for f in filenames])
        return {f: data for f, data in zip(filenames, found, strict=True) if data is not None}

    def put(self, filename: str, data: bytes) -> None:
        self._redis.set(self._name(filename), data)


def get_cache_manager(key: str) -> CacheManager:
    """The file cache for `key`."""
    return FileCacheManager(hashlib.sha256(key.encode()).hexdigest()[:40])


get_dump_manager = get_override_manager = get_cache_manager


@functools.lru_cache
def triton_key() -> str:
    """Identity of the compiler: a digest of all its source files. Part of every key on disk."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
