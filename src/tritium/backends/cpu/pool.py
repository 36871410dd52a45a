"""The worker pool, itself compiled code: threads that take ranges of a job until none is left.

A job is finished when all its ranges are, not when all workers answered: the launching thread takes ranges too, so a
worker that the system wakes late delays nobody. One 64-bit word holds (number of ranges, next range); a claim adds 1 and
counts if what it found is below the number, and only then does a worker read the job, which its claim keeps alive. Idle
workers look for the next job for a few microseconds and then sleep in a futex. Linux only; elsewhere `threads` uses
Python's threads.

A system may wake a worker on the processor of the thread that wakes it, and leave it there for many jobs while another one
idles, as each is over before its balancer looks: seen after NumPy's threads had kept the other processor busy. So a worker
that finds itself there excludes that processor from its own, until it meets the launching thread on another one.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import sys
import threading
from functools import cache
from typing import Any

import numpy as np

from tritium.backends.cpu import jit

RUNS = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
JOB_WORDS = 4
"""Function, instances, ranges, scratch memory of the launching thread; the argument block follows."""

_FUTEX = {"x86_64": 202, "aarch64": 98}
_SET_AFFINITY = {"x86_64": 203, "aarch64": 122}
_PAUSE = {"x86_64": "call void @llvm.x86.sse2.pause()", "aarch64": "call void @llvm.aarch64.hint(i32 1)"}
_PAUSE_DECLARATION = {
    "x86_64": "declare void @llvm.x86.sse2.pause()",
    "aarch64": "declare void @llvm.aarch64.hint(i32)",
}
MOST_PROCESSORS = 1024
SPINS = 2000
"""Looks of an idle worker for the next job before it sleeps: about 50 us."""

_TEXT = """
@word = internal global i64 0, align 64
@done = internal global i64 0, align 64
@generation = internal global i32 0, align 64
@sleepers = internal global i32 0, align 64
@job = internal global ptr null, align 64
@home = internal global i32 -1, align 64
@allowed = internal global [16 x i64] zeroinitializer, align 64
declare i64 @syscall(i64, ...)
declare i32 @sched_yield()
declare i32 @sched_getcpu()
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
{declaration}

define internal i1 @take(ptr %slot, i64 %mine) {{
entry:
  %old = atomicrmw add ptr @word, i64 1 acquire
  %next = and i64 %old, 4294967295
  %count = lshr i64 %old, 32
  %valid = icmp ult i64 %next, %count
  br i1 %valid, label %work, label %none
work:
  %job = load atomic ptr, ptr @job monotonic, align 8
  %fn = load ptr, ptr %job
  %tp = getelementptr i64, ptr %job, i64 1
  %total = load i64, ptr %tp
  %args = getelementptr i64, ptr %job, i64 4
  %a = mul i64 %next, %total
  %first = udiv i64 %a, %count
  %b = add i64 %a, %total
  %last = udiv i64 %b, %count
  %isworker = icmp eq i64 %mine, 0
  br i1 %isworker, label %theirs, label %ours
theirs:
  %kept = load i64, ptr %slot
  br label %call
ours:
  br label %call
call:
  %at = phi i64 [ %kept, %theirs ], [ %mine, %ours ]
  %scratch = inttoptr i64 %at to ptr
  call void %fn(ptr %args, i64 %first, i64 %last, ptr %scratch)
  %before = atomicrmw add ptr @done, i64 1 release
  ret i1 true
none:
  ret i1 false
}}

define void @allow(ptr %mask) {{
  call void @llvm.memcpy.p0.p0.i64(ptr @allowed, ptr %mask, i64 128, i1 false)
  ret void
}}

define internal void @leave(i32 %processor) noinline {{
entry:
  %known = icmp ult i32 %processor, 1024
  br i1 %known, label %go, label %stay
go:
  %mask = alloca [16 x i64]
  call void @llvm.memcpy.p0.p0.i64(ptr %mask, ptr @allowed, i64 128, i1 false)
  %wide = zext i32 %processor to i64
  %index = lshr i64 %wide, 6
  %place = and i64 %wide, 63
  %word = getelementptr i64, ptr %mask, i64 %index
  %old = load i64, ptr %word
  %bit = shl i64 1, %place
  %others = xor i64 %bit, -1
  %new = and i64 %old, %others
  store i64 %new, ptr %word
  %r = call i64 (i64, ...) @syscall(i64 {set_affinity}, i64 0, i64 128, ptr %mask)
  br label %stay
stay:
  ret void
}}

define ptr @worker(ptr %slot) {{
entry:
  br label %look
look:
  %seen = load atomic i32, ptr @generation acquire, align 4
  %home = load atomic i32, ptr @home monotonic, align 4
  %here = call i32 @sched_getcpu()
  %together = icmp eq i32 %home, %here
  br i1 %together, label %part, label %claim
part:
  call void @leave(i32 %here)
  br label %claim
claim:
  %more = call i1 @take(ptr %slot, i64 0)
  br i1 %more, label %claim, label %spin
spin:
  %i = phi i64 [ 0, %claim ], [ %j, %again ]
  %now = load atomic i32, ptr @generation acquire, align 4
  %fresh = icmp ne i32 %now, %seen
  br i1 %fresh, label %look, label %rest
rest:
  {pause}
  %j = add i64 %i, 1
  %tired = icmp uge i64 %j, {spins}
  br i1 %tired, label %sleep, label %again
again:
  br label %spin
sleep:
  %s = atomicrmw add ptr @sleepers, i32 1 seq_cst
  %w = call i64 (i64, ...) @syscall(i64 {futex}, ptr @generation, i64 128, i32 %seen, ptr null)
  %t = atomicrmw sub ptr @sleepers, i32 1 seq_cst
  br label %look
}}

define i32 @start(ptr %slot) {{
  %thread = alloca i64
  %failed = call i32 @pthread_create(ptr %thread, ptr null, ptr @worker, ptr %slot)
  ret i32 %failed
}}

define void @run(ptr %job) {{
entry:
  %np = getelementptr i64, ptr %job, i64 2
  %count = load i64, ptr %np
  %sp = getelementptr i64, ptr %job, i64 3
  %mine = load i64, ptr %sp
  store atomic ptr %job, ptr @job monotonic, align 8
  store atomic i64 0, ptr @done monotonic, align 8
  %home = call i32 @sched_getcpu()
  store atomic i32 %home, ptr @home monotonic, align 4
  %word = shl i64 %count, 32
  store atomic i64 %word, ptr @word release, align 8
  %g = atomicrmw add ptr @generation, i32 1 seq_cst
  %asleep = load atomic i32, ptr @sleepers seq_cst, align 4
  %any = icmp ne i32 %asleep, 0
  br i1 %any, label %wake, label %claim
wake:
  %w = call i64 (i64, ...) @syscall(i64 {futex}, ptr @generation, i64 129, i64 2147483647)
  br label %claim
claim:
  %more = call i1 @take(ptr null, i64 %mine)
  br i1 %more, label %claim, label %wait
wait:
  %i = phi i64 [ 0, %claim ], [ %j, %next ]
  %finished = load atomic i64, ptr @done acquire, align 8
  %over = icmp eq i64 %finished, %count
  br i1 %over, label %end, label %rest
rest:
  %long = icmp ugt i64 %i, 500
  br i1 %long, label %yield, label %pause
yield:
  %y = call i32 @sched_yield()
  br label %next
pause:
  {pause}
  br label %next
next:
  %j = add i64 %i, 1
  br label %wait
end:
  ret void
}}

define void @alone(ptr %job) {{
  %fn = load ptr, ptr %job
  %tp = getelementptr i64, ptr %job, i64 1
  %total = load i64, ptr %tp
  %sp = getelementptr i64, ptr %job, i64 3
  %at = load i64, ptr %sp
  %scratch = inttoptr i64 %at to ptr
  %args = getelementptr i64, ptr %job, i64 4
  call void %fn(ptr %args, i64 0, i64 %total, ptr %scratch)
  ret void
}}
"""


@cache
def _object() -> bytes:
    machine = platform.machine()
    text = _TEXT.format(
        declaration=_PAUSE_DECLARATION[machine],
        pause=_PAUSE[machine],
        futex=_FUTEX[machine],
        set_affinity=_SET_AFFINITY[machine],
        spins=SPINS,
    )
    return jit.build(text).code


def _processors() -> bytes:
    """The processors that this process may use, a bit for each of `MOST_PROCESSORS`."""
    allowed = sum(1 << number for number in os.sched_getaffinity(0) if number < MOST_PROCESSORS)
    return allowed.to_bytes(MOST_PROCESSORS // 8, sys.byteorder)


class Pool:
    """Worker threads of this process. `busy` is held during a job."""

    def __init__(self) -> None:
        self.loaded = jit.Loaded(_object(), ("run", "alone", "start", "allow"))
        address = self.loaded.addresses
        self.run = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(address["run"])
        self.alone = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(address["alone"])
        ctypes.CFUNCTYPE(None, ctypes.c_char_p)(address["allow"])(_processors())
        self._start = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(address["start"])
        self.busy = threading.Lock()
        self.workers = 0
        self._arenas: list[Any] = []
        self._slots: list[Any] = []

    def prepare(self, workers: int, scratch: int) -> None:
        """Have `workers` threads, each with `scratch` bytes; `busy` is held."""
        while self.workers < workers:
            slot = np.zeros(1, np.int64)
            self._slots.append(slot)
            self._arenas.append(None)
            self._give(self.workers, scratch)
            old = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            try:
                failed = self._start(slot.ctypes.data)
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, old)
            if failed:  # no more threads to be had: the launching thread takes all ranges
                self._slots.pop()
                self._arenas.pop()
                return
            self.workers += 1
        for i in range(self.workers):
            if self._arenas[i].size < scratch + 64:
                self._give(i, scratch)

    def _give(self, i: int, scratch: int) -> None:
        arena = np.zeros(max(scratch + 64, 1 << 20), np.uint8)
        self._arenas[i] = arena
        self._slots[i][0] = (arena.ctypes.data + 63) & ~63
