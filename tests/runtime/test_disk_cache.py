"""The disk cache: what it gives back, what it refuses, its size, and many processes and threads at once."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tritium import config
from tritium.runtime import disk_cache as module
from tritium.runtime.disk_cache import DiskCache, Entry, decode, disk_cache, encode, key_of

MIB = 2**20
ENTRY = Entry({"cubin": bytes(range(256)), "ptx": b"", "log": b"x"}, {"kernel": "add", "registers": 8})


@pytest.fixture
def cache(tmp_path: Path) -> DiskCache:
    return DiskCache(tmp_path / "deep" / "compiled", MIB)


def test_gives_back_what_was_put(cache: DiskCache) -> None:
    key = key_of("source", "options")
    assert cache.get(key) is None
    assert cache.put(key, ENTRY)
    assert cache.get(key) == ENTRY
    assert DiskCache(cache.folder, MIB).get(key) == ENTRY


def test_keys_keep_pieces_apart() -> None:
    assert len({key_of("ab", "c"), key_of("a", "bc"), key_of("abc"), key_of("ab", "c", ""), key_of()}) == 5
    assert key_of("a") == key_of(b"a")


def test_every_altered_byte_and_every_truncation_is_noticed() -> None:
    key = key_of("k")
    data = encode(key, ENTRY)
    assert decode(key, data) == ENTRY
    for at in range(len(data)):
        assert decode(key, data[:at]) is None
        assert decode(key, data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]) is None
    assert decode(key, data + b"\0") is None


def test_an_entry_of_another_key_is_refused() -> None:
    assert decode(key_of("b"), encode(key_of("a"), ENTRY)) is None


@pytest.mark.parametrize("damage", ["truncate", "alter", "empty", "foreign"])
def test_a_damaged_entry_is_made_again(cache: DiskCache, damage: str) -> None:
    key = key_of("k")
    cache.put(key, ENTRY)
    path = cache.path(key)
    whole = path.read_bytes()
    wrong = {"truncate": whole[:-9], "alter": whole[:-1] + b"?", "empty": b"", "foreign": b"\x80\x04."}
    path.write_bytes(wrong[damage])
    assert cache.get(key) is None
    assert not path.exists()
    path.write_bytes(wrong[damage])
    made: list[int] = []
    assert cache.get_or_make(key, lambda: made.append(1) or ENTRY) == ENTRY
    assert made == [1] and path.read_bytes() == whole


def test_makes_once_and_then_reads(cache: DiskCache) -> None:
    made: list[int] = []
    for _ in range(3):
        assert cache.get_or_make("ab" * 32, lambda: made.append(1) or ENTRY) == ENTRY
    assert made == [1]


def test_always_compile_makes_every_time(cache: DiskCache) -> None:
    made: list[int] = []
    with config.override(always_compile=True):
        for _ in range(2):
            cache.get_or_make("ab" * 32, lambda: made.append(1) or ENTRY)
    assert made == [1, 1]
    assert cache.get("ab" * 32) == ENTRY


def test_a_failing_maker_leaves_nothing_behind(cache: DiskCache) -> None:
    def fail() -> Entry:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        cache.get_or_make("ab" * 32, fail)
    assert not list(cache.folder.glob("locks/*"))
    assert cache.get_or_make("ab" * 32, lambda: ENTRY) == ENTRY


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_files_are_private_to_their_user(cache: DiskCache) -> None:
    old = os.umask(0)
    try:
        cache.get_or_make("ab" * 32, lambda: ENTRY)
    finally:
        os.umask(old)
    modes = {p: stat.S_IMODE(p.stat().st_mode) for p in [cache.folder, *cache.folder.rglob("*")]}
    assert {p for p, mode in modes.items() if mode != (0o700 if p.is_dir() else 0o600)} == set()


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_an_entry_that_others_can_write_is_not_read(cache: DiskCache) -> None:
    cache.put("ab" * 32, ENTRY)
    cache.path("ab" * 32).chmod(0o666)
    assert cache.get("ab" * 32) is None
    other = Entry({"cubin": b"made here"})
    assert cache.get_or_make("ab" * 32, lambda: other) == other
    assert cache.get("ab" * 32) == other


def _key(i: int) -> str:
    return key_of(str(i))


def test_the_least_recently_used_go_first(cache: DiskCache) -> None:
    big = Entry({"cubin": bytes(100 * 1024)})
    for i in range(9):
        cache.put(_key(i), big)
        os.utime(cache.path(_key(i)), (1000 + i, 1000 + i))
    assert cache.get(_key(0)) is not None  # now the latest
    cache.put(_key(9), big)
    assert cache.size() <= cache.limit
    cache.put(_key(10), big)
    kept = {i for i in range(11) if cache.path(_key(i)).exists()}
    assert cache.size() <= module.KEPT_AFTER_EVICTION * cache.limit
    assert kept == {0, 4, 5, 6, 7, 8, 9, 10}
    assert int((cache.folder / "total").read_text()) == cache.size()


def test_a_lost_total_is_counted_again(cache: DiskCache) -> None:
    cache.put(_key(0), ENTRY)
    (cache.folder / "total").write_text("not a number")
    cache.put(_key(1), ENTRY)
    assert int((cache.folder / "total").read_text()) == cache.size() > 0
    cache.put(_key(1), ENTRY)  # replaces itself: nothing added
    assert int((cache.folder / "total").read_text()) == cache.size()


def test_lists_and_clears(cache: DiskCache) -> None:
    cache.put(_key(0), ENTRY)
    os.utime(cache.path(_key(0)), (1, 1))
    cache.put(_key(1), Entry({"object": b"123"}, {"kernel": "mul"}))
    cache.put(_key(2), ENTRY)
    cache.path(_key(2)).write_bytes(b"broken")
    assert [e.about["kernel"] for e in cache.entries()] == ["mul", "add"]
    assert sum(e.nbytes for e in cache.entries()) == cache.size() - len(b"broken")
    assert cache.clear()[0] == 3
    assert cache.entries() == [] and cache.size() == 0


def test_leftovers_of_ended_processes_are_swept(cache: DiskCache) -> None:
    cache.put(_key(0), ENTRY)
    (cache.folder / "locks").mkdir()
    old, young = cache.folder / "locks" / "a.lock", cache.folder / "locks" / "b.lock"
    half = cache.path(_key(0)).parent / ".writing-x"
    for path in (old, young, half):
        path.touch()
    for path in (old, half):
        os.utime(path, (1, 1))
    cache.clear()
    assert young.exists() and not old.exists() and not half.exists()


def test_a_folder_that_cannot_be_made_costs_one_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = DiskCache(tmp_path / "file" / "compiled", MIB)
    made: list[int] = []
    with pytest.warns(RuntimeWarning, match="TRITIUM_CACHE_DIR") as caught:
        for i in range(3):
            assert cache.get_or_make(_key(i), lambda: made.append(1) or ENTRY) == ENTRY
    assert len(caught) == 1 and made == [1, 1, 1]
    assert str(cache.folder) in str(caught[0].message)


@pytest.mark.parametrize("number", ["ENOSPC", "EROFS", "EDQUOT"])
def test_a_full_or_read_only_disk_costs_one_warning(
    cache: DiskCache, monkeypatch: pytest.MonkeyPatch, number: str
) -> None:
    import errno

    cache.put(_key(9), ENTRY)  # was written while there was room, and stays readable

    def refuse(*args: object, **kwargs: object) -> tuple[int, str]:
        raise OSError(getattr(errno, number), os.strerror(getattr(errno, number)))

    monkeypatch.setattr(module.tempfile, "mkstemp", refuse)
    monkeypatch.setattr(module.os, "utime", refuse)
    with pytest.warns(RuntimeWarning, match=os.strerror(getattr(errno, number))) as caught:
        for i in range(2):
            assert cache.get_or_make(_key(i), lambda: ENTRY) == ENTRY
    assert len(caught) == 1
    assert cache.get(_key(9)) == ENTRY


def test_a_failed_write_leaves_no_half_file(cache: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "replace", refuse)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not cache.put(_key(0), ENTRY)
    assert not list(cache.folder.rglob(".writing-*")) and cache.get(_key(0)) is None


def test_a_file_system_without_locks_still_caches(cache: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise NotImplementedError("flock")

    monkeypatch.setattr(module.filelock.FileLock, "acquire", refuse)
    assert cache.get_or_make(_key(0), lambda: ENTRY) == ENTRY
    assert cache.get(_key(0)) == ENTRY


def test_many_threads_make_an_entry_once(cache: DiskCache) -> None:
    made: list[int] = []
    ready = threading.Barrier(8)

    def slow(i: int) -> Entry:
        made.append(i)
        time.sleep(0.1)
        return Entry({"n": str(i).encode()})

    def ask(i: int) -> list[Entry]:
        ready.wait()
        return [cache.get_or_make(_key(k), lambda k=k: slow(k)) for k in range(3)]

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    assert sorted(made) == [0, 1, 2]
    assert all(a == [Entry({"n": str(k).encode()}) for k in range(3)] for a in answers)


PROCESS = """
import json, os, sys, time
from pathlib import Path
from tritium.runtime.disk_cache import DiskCache, Entry, key_of

folder, start, n = Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
cache = DiskCache(folder, 2**20)
made = []
def make(k):
    made.append(k)
    time.sleep(0.05)
    return Entry({"cubin": bytes([k]) * 1000}, {"kernel": f"k{k}"})
time.sleep(max(0.0, start - time.time()))
order = [(os.getpid() + i) % n for i in range(n)]
got = {k: cache.get_or_make(key_of(str(k)), lambda k=k: make(k)).parts["cubin"] == bytes([k]) * 1000 for k in order}
print(json.dumps([made, all(got.values()) and len(got) == n]))
"""


@pytest.mark.slow
def test_sixteen_processes_compile_each_kernel_once(tmp_path: Path) -> None:
    kernels = 5
    start = str(time.time() + 4)
    command = [sys.executable, "-c", PROCESS, str(tmp_path / "cache" / "compiled"), start, str(kernels)]
    source = str(Path(module.__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(16)
    ]
    answers = [json.loads(process.communicate(timeout=120)[0]) for process in running]
    assert all(process.returncode == 0 for process in running)
    assert all(right for _, right in answers)
    assert sorted(k for made, _ in answers for k in made) == list(range(kernels))
    cache = DiskCache(tmp_path / "cache" / "compiled", MIB)
    assert len(cache.entries()) == kernels
    assert int((cache.folder / "total").read_text()) == cache.size()
    assert not list(cache.folder.glob("locks/*"))


def test_a_process_that_dies_while_it_compiles_holds_nobody_up(cache: DiskCache) -> None:
    dying = (
        "import os, sys\nfrom pathlib import Path\nfrom tritium.runtime.disk_cache import DiskCache, key_of\n"
        "DiskCache(Path(sys.argv[1]), 2**20).get_or_make(key_of('0'), lambda: os._exit(3))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(module.__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", dying, str(cache.folder)], env=environment, timeout=60, check=False
    )
    assert done.returncode == 3
    started = time.monotonic()
    assert cache.get_or_make(_key(0), lambda: ENTRY) == ENTRY
    assert time.monotonic() - started < 10


def test_the_settings_name_the_folder_and_the_limit(tmp_path: Path) -> None:
    with config.override(tritium_cache_dir=tmp_path, cache_limit=3):
        cache = disk_cache()
    assert cache.folder == tmp_path / "compiled" and cache.limit == 3 * MIB
