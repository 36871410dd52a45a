"""``triton.runtime.cache``: file caches as programs that plug in their own expect them, and the compiler's identity.

Tritium's own compiled kernels are kept by `tritium.runtime.disk_cache`.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tritium import config, knobs
from tritium.backends.sources import compiler_digest
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
        if dump:
            root = Path(knobs.cache.dump_dir)
        elif override:
            root = Path(knobs.cache.override_dir)
        else:
            root = cache_directory()
        self.cache_dir = str(root / key)

    def _path(self, filename: str) -> Path:
        return Path(self.cache_dir) / filename

    def has_file(self, filename: str) -> bool:
        """Whether the file is there."""
        return self._path(filename).is_file()

    def get_file(self, filename: str) -> str | None:
        return str(self._path(filename)) if self.has_file(filename) else None

    def put(self, data: Any, filename: str, binary: bool = True) -> str:
        content = data if isinstance(data, bytes) else str(data).encode()
        folder = Path(self.cache_dir)
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, prefix=".writing-")
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
        path = self.get_file(f"__grp__{filename}")
        if path is None:
            return None
        try:
            names = json.loads(Path(path).read_text())["children"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return {n: str(self._path(n)) for n in names if self.has_file(n)}

    def put_group(self, filename: str, group: dict[str, str]) -> str:
        return self.put(json.dumps({"children": sorted(group)}), f"__grp__{filename}", binary=False)


class RemoteCacheBackend(ABC):
    """A remote store that programs may implement."""

    def __init__(self, key: str) -> None:
        self.key = key

    @abstractmethod
    def get(self, filenames: list[str]) -> dict[str, bytes]:
        """The contents of those files that are there."""

    @abstractmethod
    def put(self, filename: str, data: bytes) -> None:
        """Store one file."""


class RedisRemoteCacheBackend(RemoteCacheBackend):
    """Keeps files in Redis (needs the ``redis`` package)."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        import redis  # type: ignore[import-not-found]

        self._redis: Any = redis.Redis(host=knobs.redis.host, port=knobs.redis.port)
        self._format: str = knobs.redis.key_format

    def _get_key(self, filename: str) -> str:
        return self._format.format(key=self.key, filename=filename)

    def get(self, filenames: list[str]) -> dict[str, bytes]:
        found = self._redis.mget([self._get_key(f) for f in filenames])
        return {f: data for f, data in zip(filenames, found, strict=True) if data is not None}

    def put(self, filename: str, data: bytes) -> None:
        self._redis.set(self._get_key(filename), data)


class RemoteCacheManager(CacheManager):
    """Files of a remote store (``knobs.cache.remote_manager_class``), with copies on this machine."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        super().__init__(key, override, dump)
        backend: Any = knobs.cache.remote_manager_class
        if backend is None:
            raise RuntimeError("set TRITON_REMOTE_CACHE_BACKEND or knobs.cache.remote_manager_class first")
        self._backend: RemoteCacheBackend | None = None if override or dump else backend(key)
        self._files = FileCacheManager(key, override, dump)

    def get_file(self, filename: str) -> str | None:
        if self._backend is None:
            return self._files.get_file(filename)
        found = self._backend.get([filename])
        return self._files.put(found[filename], filename) if filename in found else None

    def put(self, data: Any, filename: str, binary: bool = True) -> str:
        content = data if isinstance(data, bytes) else str(data).encode()
        if self._backend is not None:
            self._backend.put(filename, content)
        return self._files.put(content, filename)

    def get_group(self, filename: str) -> dict[str, str] | None:
        if self._backend is None:
            return self._files.get_group(filename)
        path = self.get_file(f"__grp__{filename}")
        if path is None:
            return None
        names: list[str] = json.loads(Path(path).read_text())["children"]
        found = self._backend.get(names)
        return {name: self._files.put(data, name) for name, data in found.items()}

    def put_group(self, filename: str, group: dict[str, str]) -> str:
        return self.put(json.dumps({"children": sorted(group)}), f"__grp__{filename}", binary=False)


def _base32(key: str) -> str:
    """A hexadecimal key in fewer characters that any file system takes."""
    return base64.b32encode(bytes.fromhex(key)).decode().rstrip("=")


def _manager(key: str, **which: bool) -> CacheManager:
    made: type[Any] = knobs.cache.manager_class or FileCacheManager
    return made(_base32(key), **which)


def get_cache_manager(key: str) -> CacheManager:
    """The store for a hexadecimal key, of the class that ``knobs.cache.manager_class`` names."""
    return _manager(key)


def get_override_manager(key: str) -> CacheManager:
    """The same in the folder of files that replace stages."""
    return _manager(key, override=True)


def get_dump_manager(key: str) -> CacheManager:
    """The same in the folder of dumps."""
    return _manager(key, dump=True)


# ---- identity ----------------------------------------------------------------------------------------


def triton_key() -> str:
    """Identity of the compiler: a digest of all its source files. Part of every key on disk."""
    return f"tritium-{compiler_digest()}"


def get_cache_invalidating_env_vars() -> dict[str, str]:
    """Environment variables that change what is compiled, where they are set."""
    found = {s.env: config.environment(s.env) for s in config.SETTINGS.values() if s.in_cache_key}
    return {name: text for name, text in sorted(found.items()) if text is not None}


def get_cache_key(src: Any, backend: Any, backend_options: Any, env_vars: Mapping[str, str]) -> str:
    """What distinguishes one compilation from another, as text."""
    parts = (triton_key(), src.hash(), backend.hash(), backend_options.hash(), sorted(env_vars.items()))
    return "-".join(map(str, parts))


def make_so_cache_key(
    version_hash: str, signature: Mapping[str, str], constants: Any, ids: Any, **kwargs: Any
) -> str:
    """A key for a launcher of kernels with this signature; pointers of all kinds count as one."""
    types = "".join("ptr" if ty.startswith("*") else ty for ty in signature.values())
    parts = [version_hash, types, str(constants), str(ids), *map(str, kwargs.values())]
    return _base32(hashlib.sha256("-".join(parts).encode()).hexdigest())
