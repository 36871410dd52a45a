"""Launch stub: launching an entry on the GPU or on the host."""

from __future__ import annotations

RUN = """
; ---- launching ------------------------------------------------------------------------------------------------------------

define internal i64 @convert(i64 %word, i64 %conversion) {
  %single = icmp eq i64 %conversion, $TO_FLOAT
  br i1 %single, label %narrow, label %same
narrow:
  %d = bitcast i64 %word to double
  %f = fptrunc double %d to float
  %bits = bitcast float %f to i32
  %wide = zext i32 %bits to i64
  ret i64 %wide
same:
  ret i64 %word
}

define internal void @pack(ptr %e, ptr %values, ptr %out) {
entry:
  %count = field Entry.pack_count of %e
  %packs = field Entry.packs of %e as ptr
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %one ]
  %done = icmp uge i64 %i, %count
  br i1 %done, label %end, label %one
one:
  %pp = getelementptr ptr, ptr %packs, i64 %i
  %p = load ptr, ptr %pp
  %slot = field Pack.slot of %p
  %conversion = field Pack.conversion of %p
  %vp = getelementptr i64, ptr %values, i64 %slot
  %v = load i64, ptr %vp
  %w = call i64 @convert(i64 %v, i64 %conversion)
  %op = getelementptr i64, ptr %out, i64 %i
  store i64 %w, ptr %op
  %next = add i64 %i, 1
  br label %loop
end:
  ret void
}

; %callable(first, numbers...); %first, if there is one, is given up. False with an error set if it raised
define internal i1 @tell(ptr %callable, ptr %first, ptr %numbers, i64 %count) {
entry:
  %args = alloca [8 x ptr]
  store ptr %first, ptr %args
  %has = icmp ne ptr %first, null
  %before = zext i1 %has to i64
  %total = add i64 %count, %before
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %stored ]
  %at = phi i64 [ %before, %entry ], [ %after, %stored ]
  %done = icmp uge i64 %i, %count
  br i1 %done, label %call, label %one
one:
  %np = getelementptr i64, ptr %numbers, i64 %i
  %n = load i64, ptr %np
  %o = call ptr @PyLong_FromLongLong(i64 %n)
  %lost = icmp eq ptr %o, null
  br i1 %lost, label %release, label %stored
stored:
  %op = getelementptr ptr, ptr %args, i64 %at
  store ptr %o, ptr %op
  %next = add i64 %i, 1
  %after = add i64 %at, 1
  br label %loop
call:
  %result = call ptr @PyObject_Vectorcall(ptr %callable, ptr %args, i64 %total, ptr null)
  br label %release
release:
  %r = phi ptr [ null, %one ], [ %result, %call ]
  %made = phi i64 [ %at, %one ], [ %total, %call ]
  br label %drop
drop:
  %j = phi i64 [ 0, %release ], [ %nextj, %each ]
  %over = icmp uge i64 %j, %made
  br i1 %over, label %end, label %each
each:
  %jp = getelementptr ptr, ptr %args, i64 %j
  %a = load ptr, ptr %jp
  call void @Py_DecRef(ptr %a)
  %nextj = add i64 %j, 1
  br label %drop
end:
  %failed = icmp eq ptr %r, null
  br i1 %failed, label %no, label %yes
yes:
  call void @Py_DecRef(ptr %r)
  ret i1 true
no:
  ret i1 false
}

define internal i1 @on_gpu(ptr %e, ptr %packed, i64 %x, i64 %y, i64 %z) {
entry:
  %pointers = alloca [$SLOTS x ptr]
  %told = alloca [6 x i64]
  %out = alloca i64
  %configuration = alloca [8 x i64], align 16
  %count = field Entry.pack_count of %e
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %one ]
  %done = icmp uge i64 %i, %count
  br i1 %done, label %stream, label %one
one:
  %ap = getelementptr i64, ptr %packed, i64 %i
  %pp = getelementptr ptr, ptr %pointers, i64 %i
  store ptr %ap, ptr %pp
  %next = add i64 %i, 1
  br label %loop
stream:
  %stream_of = field Entry.stream_of of %e as ptr
  %ordinal = field Entry.ordinal of %e as ptr
  %s = call i1 @number(ptr %stream_of, ptr %ordinal, ptr %out)
  br i1 %s, label %ready, label %no
ready:
  %handle64 = load i64, ptr %out
  %handle = inttoptr i64 %handle64 to ptr
  %call = field Entry.call of %e as ptr
  %function = field Entry.function of %e as ptr
  %config = field Entry.config of %e as ptr
  %x32 = trunc i64 %x to i32
  %y32 = trunc i64 %y to i32
  %z32 = trunc i64 %z to i32
  %plain = icmp eq ptr %config, null
  br i1 %plain, label %simple, label %extended
simple:
  %threads64 = field Entry.threads of %e
  %threads = trunc i64 %threads64 to i32
  %shared64 = field Entry.shared of %e
  %shared = trunc i64 %shared64 to i32
  %held = call ptr @PyEval_SaveThread()
  %code1 = call i32 %call(ptr %function, i32 %x32, i32 %y32, i32 %z32, i32 %threads, i32 1, i32 1,
    i32 %shared, ptr %handle, ptr %pointers, ptr null)
  call void @PyEval_RestoreThread(ptr %held)
  br label %launched
extended:
  ; CUlaunchConfig: seven 32-bit numbers, of which three are the grid; stream at 32, attributes at 40, their number at 48
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %configuration, ptr align 8 %config, i64 56, i1 false)
  store i32 %x32, ptr %configuration
  %cy = getelementptr i32, ptr %configuration, i64 1
  store i32 %y32, ptr %cy
  %cz = getelementptr i32, ptr %configuration, i64 2
  store i32 %z32, ptr %cz
  %cs = getelementptr i8, ptr %configuration, i64 32
  store ptr %handle, ptr %cs
  %held2 = call ptr @PyEval_SaveThread()
  %code2 = call i32 %call(ptr %configuration, ptr %function, ptr %pointers, ptr null)
  call void @PyEval_RestoreThread(ptr %held2)
  br label %launched
launched:
  %code = phi i32 [ %code1, %simple ], [ %code2, %extended ]
  %good = icmp eq i32 %code, 0
  br i1 %good, label %yes, label %bad
bad:
  ; the error path may launch again, from these same parameters
  %code64 = zext i32 %code to i64
  store i64 %code64, ptr %told
  %t1 = getelementptr i64, ptr %told, i64 1
  store i64 %x, ptr %t1
  %t2 = getelementptr i64, ptr %told, i64 2
  store i64 %y, ptr %t2
  %t3 = getelementptr i64, ptr %told, i64 3
  store i64 %z, ptr %t3
  %t4 = getelementptr i64, ptr %told, i64 4
  store i64 %handle64, ptr %t4
  %t5 = getelementptr i64, ptr %told, i64 5
  %address = ptrtoint ptr %pointers to i64
  store i64 %address, ptr %t5
  %failed = field Entry.failed of %e as ptr
  %r = call i1 @tell(ptr %failed, ptr null, ptr %told, i64 6)
  ret i1 %r
yes:
  ret i1 true
no:
  ret i1 false
}

define internal i64 @nanoseconds() {
  %t = alloca [2 x i64]
  %r = call i32 @clock_gettime(i32 $CLOCK, ptr %t)
  %s = load i64, ptr %t
  %np = getelementptr i64, ptr %t, i64 1
  %n = load i64, ptr %np
  %m = mul i64 %s, 1000000000
  %sum = add i64 %m, %n
  ret i64 %sum
}

; %block: grid, fault word, arguments. One instance, or few that are done soon, run here; others are handed to Python,
; which knows the worker pool
define internal i1 @on_host(ptr %e, ptr %block, i64 %x, i64 %y, i64 %z) {
entry:
  %told = alloca [4 x i64]
  %out = alloca ptr
  store i64 %x, ptr %block
  %b1 = getelementptr i64, ptr %block, i64 1
  store i64 %y, ptr %b1
  %b2 = getelementptr i64, ptr %block, i64 2
  store i64 %z, ptr %b2
  %b3 = getelementptr i64, ptr %block, i64 3
  store i64 0, ptr %b3
  %t1 = getelementptr i64, ptr %told, i64 1
  store i64 %x, ptr %t1
  %t2 = getelementptr i64, ptr %told, i64 2
  store i64 %y, ptr %t2
  %t3 = getelementptr i64, ptr %told, i64 3
  store i64 %z, ptr %t3
  %pace = field Entry.pace of %e as ptr
  %each = load double, ptr %pace
  %xd = sitofp i64 %x to double
  %yd = sitofp i64 %y to double
  %zd = sitofp i64 %z to double
  %xyd = fmul double %xd, %yd
  %totald = fmul double %xyd, %zd
  %xy = mul i64 %x, %y
  %total = mul i64 %xy, %z
  %single = fcmp oeq double %totald, 1.0
  %work = fmul double %each, %totald
  ; so few that their number is exact; `ule` would also take the product of nothing known, infinity
  %few = fcmp olt double %totald, 1.0e15
  %soon = fcmp ole double %work, $SHARING
  %quick = and i1 %few, %soon
  %here = or i1 %single, %quick
  br i1 %here, label %alone, label %share
share:
  %count = field Entry.pack_count of %e
  %slots = add i64 %count, 4
  %nbytes = shl i64 %slots, 3
  %bytes = call ptr @PyBytes_FromStringAndSize(ptr %block, i64 %nbytes)
  %nobytes = icmp eq ptr %bytes, null
  br i1 %nobytes, label %no, label %handed
handed:
  %sharing = field Entry.share of %e as ptr
  %s = call i1 @tell(ptr %sharing, ptr %bytes, ptr %t1, i64 3)
  ret i1 %s
alone:
  %scratch = field Entry.scratch of %e
  %modest = icmp eq i64 %scratch, 0
  br i1 %modest, label %run, label %allocate
allocate:
  %got = call i32 @posix_memalign(ptr %out, i64 64, i64 %scratch)
  %short = icmp ne i32 %got, 0
  br i1 %short, label %share, label %room
room:
  %memory = load ptr, ptr %out
  br label %run
run:
  %at = phi ptr [ null, %alone ], [ %memory, %room ]
  %chunk = field Entry.function of %e as ptr
  %held = call ptr @PyEval_SaveThread()
  br i1 %single, label %one, label %several
one:
  call void %chunk(ptr %block, i64 0, i64 1, ptr %at)
  br label %ran
several:
  %before = call i64 @nanoseconds()
  call void %chunk(ptr %block, i64 0, i64 %total, ptr %at)
  %after = call i64 @nanoseconds()
  %spent = sub i64 %after, %before
  %spentd = sitofp i64 %spent to double
  %now = fdiv double %spentd, %totald
  %faster = fcmp olt double %now, %each
  %old = fmul double %each, 0.75
  %new = fmul double %now, 0.25
  %blend = fadd double %old, %new
  %pace2 = select i1 %faster, double %now, double %blend
  store double %pace2, ptr %pace
  br label %ran
ran:
  call void @free(ptr %at)
  call void @PyEval_RestoreThread(ptr %held)
  %launches = field Entry.launches of %e as ptr
  %l = load i64, ptr %launches
  %l2 = add i64 %l, 1
  store i64 %l2, ptr %launches
  %fault = load i64, ptr %b3
  %good = icmp eq i64 %fault, 0
  br i1 %good, label %yes, label %bad
bad:
  store i64 %fault, ptr %told
  %failed = field Entry.failed of %e as ptr
  %r = call i1 @tell(ptr %failed, ptr null, ptr %told, i64 4)
  ret i1 %r
yes:
  ret i1 true
no:
  ret i1 false
}
"""
