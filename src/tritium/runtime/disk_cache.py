"""Compiled kernels on disk, shared by all backends and by any number of processes.

One immutable file per entry, named by the SHA-256 of everything that determines its content (source text, options,
identity of the compiler). A file is written under another name and renamed, so no reader sees half of it; it carries a
checksum of all its bytes and the key it was written for, so a truncated, altered or misplaced file is a miss and gets
replaced. Nothing in it is executed or unpickled while it is read.

::

    <cache folder>/compiled/
        3f/3fa9...c1.entry      magic, checksum, header (JSON), parts one after the other
        locks/3fa9...c1.lock    held while a process compiles this entry; the others wait and read
        total                   bytes in all entries, roughly; the exact sum is taken when it passes the limit

A cache that cannot be read or written never fails a launch: kernels are compiled again, and one warning says why.
The folders are private to their user (0700, files 0600), and an entry that someone else could have written is not read.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import struct
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import filelock

from tritium import config
from tritium.runtime.cache_paths import cache_directory

_MAGIC = b"tritium cache 1\n"
_HEADER = struct.Struct("<I")
_DIGEST = hashlib.sha256().digest_size
_SUFFIX = ".entry"
KEPT_AFTER_EVICTION = 0.8
"""Share of the limit that remains after the least recently used entries went: room for the next ones."""
LONGEST_WAIT = 300.0
"""Seconds to wait for a process that compiles the same entry before compiling it here as well."""


def key_of(*pieces: str | bytes) -> str:
    """The key of an entry that is determined by `pieces`: a digest in which ("ab", "c") differs from ("a", "bc")."""
    digest = hashlib.sha256()
    for piece in pieces:
        data = piece.encode() if isinstance(piece, str) else piece
        digest.update(struct.pack("<Q", len(data)))
        digest.update(data)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Entry:
    """What is kept under one key.

    parts   named byte strings, such as ``{"cubin": ..., "ptx": ...}``
    about   plain JSON values: what it is (kernel, target) and what is known of it (registers, ...)
    """

    parts: Mapping[str, bytes]
    about: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Listed:
    """One entry as `DiskCache.entries` lists it; `used` is seconds since the epoch."""

    key: str
    path: Path
    nbytes: int
    used: float
    about: Mapping[str, Any]


def encode(key: str, entry: Entry) -> bytes:
    """The bytes of the file that keeps `entry`."""
    header = json.dumps(
        {
            "key": key,
            "about": dict(entry.about),
            "parts": [[name, len(data)] for name, data in entry.parts.items()],
        }
    ).encode()
    body = _HEADER.pack(len(header)) + header + b"".join(entry.parts.values())
    return _MAGIC + hashlib.sha256(body).digest() + body


def decode(key: str, data: bytes) -> Entry | None:
    """The entry in these bytes; None unless they are whole, unaltered and were written for `key`."""
    start = len(_MAGIC) + _DIGEST
    if not data.startswith(_MAGIC) or hashlib.sha256(data[start:]).digest() != data[len(_MAGIC) : start]:
        return None
    header = _header(data)
    if header is None or header.get("key") != key:
        return None
    parts: dict[str, bytes] = {}
    at = start + _HEADER.size + _HEADER.unpack_from(data, start)[0]
    for name, length in header["parts"]:
        parts[name] = data[at : at + length]
        at += length
    return Entry(parts, header["about"]) if at == len(data) else None


def _header(data: bytes) -> dict[str, Any] | None:
    start = len(_MAGIC) + _DIGEST
    try:
        (length,) = _HEADER.unpack_from(data, start)
        return json.loads(data[start + _HEADER.size : start + _HEADER.size + length])
    except (struct.error, ValueError):
        return None


class DiskCache:
    """The entries under one folder. Every method may be called from any thread and process at any time.

    limit   bytes that all entries together may take; beyond it the least recently used ones go
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self.limit = limit

    # ---- reading and writing -------------------------------------------------------------------------

    def path(self, key: str) -> Path:
        """Where the entry of `key` is kept."""
        return self.folder / key[:2] / (key + _SUFFIX)

    def get(self, key: str) -> Entry | None:
        """The entry of `key`, or None. A damaged one is removed."""
        path = self.path(key)
        try:
            with open(path, "rb") as file:
                if not _is_private(os.fstat(file.fileno())):
                    return None
                data = file.read()
        except OSError:
            return None
        entry = decode(key, data)
        with contextlib.suppress(OSError):
            if entry is None:
                path.unlink()
            else:
                os.utime(path)  # marks it as used, for eviction
        return entry

    def put(self, key: str, entry: Entry) -> bool:
        """Keep `entry`. False, with one warning per folder and process, where that is not possible."""
        data = encode(key, entry)
        path = self.path(key)
        try:
            self._make(path.parent)
            with self._locked(self.folder / "total.lock", kept=True):
                replaced = path.stat().st_size if path.exists() else 0
                before = self._total()
                _write(path, data)
                self._account(before + len(data) - replaced)
        except OSError as broken:
            _warn_once(self.folder, broken)
            return False
        return True

    def get_or_make(self, key: str, make: Callable[[], Entry]) -> Entry:
        """The entry of `key`; if there is none, that of `make()`, which then is kept.

        Of all threads and processes that ask for one key at the same time, one makes it and the others wait.
        """
        found = None if config.get("always_compile") else self.get(key)
        if found is not None:
            return found
        with self._locked(self.folder / "locks" / f"{key}.lock"):
            found = None if config.get("always_compile") else self.get(key)
            if found is None:
                found = make()
                self.put(key, found)
        return found

    @contextlib.contextmanager
    def _locked(self, path: Path, kept: bool = False) -> Generator[None]:
        """Hold the lock file `path`; without one (read-only folder, file system without locks) go on unlocked."""
        lock = filelock.FileLock(path, mode=0o600)
        held = False
        with contextlib.suppress(OSError, NotImplementedError):  # a timeout is an OSError
            self._make(path.parent)
            lock.acquire(timeout=LONGEST_WAIT)
            held = True
        try:
            yield
        finally:
            if held:
                if (
                    not kept
                ):  # whoever waits on the removed file gets its turn, looks for the entry first and finds it
                    with contextlib.suppress(OSError):
                        path.unlink()
                lock.release()

    def _make(self, folder: Path) -> None:
        if not folder.is_dir():
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            for each in (self.folder, folder):
                each.mkdir(mode=0o700, exist_ok=True)

    # ---- size ----------------------------------------------------------------------------------------

    def _total(self) -> int:
        """The bytes in all entries, from the record if there is one."""
        try:
            return int((self.folder / "total").read_text())
        except (OSError, ValueError):
            return self.size()

    def _account(self, total: int) -> None:
        """Record the new total, and evict when it passes the limit."""
        _write(self.folder / "total", str(self._evict() if total > self.limit else total).encode())

    def _evict(self) -> int:
        """Remove the least recently used entries until `KEPT_AFTER_EVICTION` of the limit remains; bytes left."""
        files = sorted(self._files(), key=lambda found: found[2])
        total = sum(size for _, size, _ in files)
        for path, size, _ in files:
            if total <= self.limit * KEPT_AFTER_EVICTION:
                break
            with contextlib.suppress(OSError):
                path.unlink()
            total -= size
        self._sweep()
        return total

    def _files(self) -> Iterator[tuple[Path, int, float]]:
        """(path, bytes, last use) of every entry."""
        for path in self.folder.glob(f"??/*{_SUFFIX}"):
            with contextlib.suppress(OSError):  # another process may remove it meanwhile
                status = path.stat()
                yield path, status.st_size, status.st_mtime

    def size(self) -> int:
        """Bytes that the entries take."""
        return sum(size for _, size, _ in self._files())

    def entries(self) -> list[Listed]:
        """All entries, most recently used first. Damaged ones are left out."""
        found: list[Listed] = []
        for path, size, used in self._files():
            with contextlib.suppress(OSError):
                key = path.name.removesuffix(_SUFFIX)
                entry = decode(key, path.read_bytes())
                if entry is not None:
                    found.append(Listed(key, path, size, used, entry.about))
        return sorted(found, key=lambda entry: -entry.used)

    def clear(self) -> tuple[int, int]:
        """Remove every entry; how many went and their bytes. Running programs keep what they have loaded."""
        count = total = 0
        for path, size, _ in self._files():
            with contextlib.suppress(OSError):
                path.unlink()
                count += 1
                total += size
        self._sweep()
        with contextlib.suppress(OSError):
            (self.folder / "total").unlink()
        return count, total

    def _sweep(self) -> None:
        """Remove what processes that ended early left behind."""
        for path in [*self.folder.glob("locks/*.lock"), *self.folder.glob("**/.writing-*")]:
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > LONGEST_WAIT:  # younger ones are in use
                    path.unlink()


def _write(path: Path, data: bytes) -> None:
    """Write the whole file at once, as seen by readers."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".writing-")  # created with mode 0600
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _is_private(status: os.stat_result) -> bool:
    """Whether only this user (or root) can have written the file."""
    if os.name == "nt":
        return True
    return status.st_uid in (os.geteuid(), 0) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


_warned: set[Path] = set()
_warned_lock = threading.Lock()


def _warn_once(folder: Path, broken: OSError) -> None:
    with _warned_lock:
        if folder in _warned:
            return
        _warned.add(folder)
    warnings.warn(
        f"kernels cannot be kept in {folder}: {broken.strerror or broken}. They are compiled anew in every process. "
        "Set TRITIUM_CACHE_DIR to a folder that can be written.",
        RuntimeWarning,
        stacklevel=3,
    )


def disk_cache() -> DiskCache:
    """The cache that the settings name now."""
    return DiskCache(cache_directory() / "compiled", config.get("cache_limit") * 2**20)


def keep(
    pieces: Sequence[str], make: Callable[[], tuple[Mapping[str, bytes], Mapping[str, Any]]]
) -> tuple[Mapping[str, bytes], Mapping[str, Any]]:
    """The parts and what is said about them, as kept under `pieces`; else as `make` gives them, and kept from then on.

    This is how compilers reach the cache that the settings name.
    """
    entry = disk_cache().get_or_make(key_of(*pieces), lambda: Entry(*make()))
    return entry.parts, entry.about
