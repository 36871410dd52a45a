"""Launch stub: one argument to its tag and word in the key, and to its value."""

from __future__ import annotations

CLASSIFY = """
; ---- one argument: its tag and word in the key, and its value -----------------------------------------------------

define internal i1 @put(ptr %frame, i64 %slot, i64 %tag, i64 %word, i64 %value) {
  %key = field Frame.key of %frame as ptr
  %values = field Frame.values of %frame as ptr
  %twice = shl i64 %slot, 1
  %place = add i64 %twice, $HEAD
  %tp = getelementptr i64, ptr %key, i64 %place
  store i64 %tag, ptr %tp
  %wp = getelementptr i64, ptr %tp, i64 1
  store i64 %word, ptr %wp
  %vp = getelementptr i64, ptr %values, i64 %slot
  store i64 %value, ptr %vp
  ret i1 true
}

define internal ptr @ask(ptr %callable, ptr %o) {
  %args = alloca ptr
  store ptr %o, ptr %args
  %r = call ptr @PyObject_Vectorcall(ptr %callable, ptr %args, i64 1, ptr null)
  ret ptr %r
}

; what %callable answers about %o, as a number; false with an error set where it is none
define internal i1 @number(ptr %callable, ptr %o, ptr %out) {
  %r = call ptr @ask(ptr %callable, ptr %o)
  %none = icmp eq ptr %r, null
  br i1 %none, label %bad, label %answer
answer:
  %p = call ptr @PyLong_AsVoidPtr(ptr %r)
  call void @Py_DecRef(ptr %r)
  %v = ptrtoint ptr %p to i64
  store i64 %v, ptr %out
  %doubtful = icmp eq i64 %v, 0
  br i1 %doubtful, label %check, label %good
check:
  %e = call ptr @PyErr_Occurred()
  %fine = icmp eq ptr %e, null
  ret i1 %fine
good:
  ret i1 true
bad:
  ret i1 false
}

; compile-time values: numbers by value and type, all else by identity
define internal i1 @constant(ptr %frame, i64 %slot, ptr %o, ptr %type) {
entry:
  %over = alloca i32
  %int = icmp eq ptr %type, @Integer
  br i1 %int, label %integer, label %other
integer:
  %v = call i64 @PyLong_AsLongLongAndOverflow(ptr %o, ptr %over)
  %ov = load i32, ptr %over
  %fits = icmp eq i32 %ov, 0
  br i1 %fits, label %whole, label %no
whole:
  %a = call i1 @put(ptr %frame, i64 %slot, i64 $C_INT, i64 %v, i64 %v)
  ret i1 true
other:
  %float = icmp eq ptr %type, @Float
  br i1 %float, label %real, label %rest
real:
  %d = call double @PyFloat_AsDouble(ptr %o)
  %bits = bitcast double %d to i64
  %b = call i1 @put(ptr %frame, i64 %slot, i64 $C_FLOAT, i64 %bits, i64 %bits)
  ret i1 true
rest:
  %isnone = icmp eq ptr %o, @None
  %istrue = icmp eq ptr %o, @True
  %isfalse = icmp eq ptr %o, @False
  %bool = or i1 %istrue, %isfalse
  %t1 = select i1 %bool, i64 $C_BOOL, i64 $C_OBJECT
  %tag = select i1 %isnone, i64 $C_NONE, i64 %t1
  %id = ptrtoint ptr %o to i64
  %c = call i1 @put(ptr %frame, i64 %slot, i64 %tag, i64 %id, i64 %id)
  ret i1 true
no:
  ret i1 false
}

define internal i1 @integer(ptr %frame, ptr %rule, i64 %slot, ptr %o) {
entry:
  %over = alloca i32
  %v = call i64 @PyLong_AsLongLongAndOverflow(ptr %o, ptr %over)
  %ov = load i32, ptr %over
  %fits = icmp eq i32 %ov, 0
  %low = field Rule.low of %rule
  %high = field Rule.high of %rule
  %above = icmp sge i64 %v, %low
  %below = icmp sle i64 %v, %high
  %inside = and i1 %above, %below
  %known = and i1 %fits, %inside
  br i1 %known, label %good, label %no
good:
  %aligns = field Rule.aligns of %rule
  %rest = and i64 %v, 15
  %even = icmp eq i64 %rest, 0
  %even64 = zext i1 %even to i64
  %aligned = and i64 %even64, %aligns
  %small = trunc i64 %v to i32
  %again = sext i32 %small to i64
  %wide = icmp ne i64 %again, %v
  %wide64 = select i1 %wide, i64 $WIDE, i64 0
  %t1 = or i64 $INT, %aligned
  %t2 = or i64 %t1, %wide64
  %specialized = field Rule.one of %rule
  %counts = icmp ne i64 %specialized, 0
  %isone = icmp eq i64 %v, 1
  %one = and i1 %isone, %counts
  %tag = select i1 %one, i64 $ONE, i64 %t2
  %a = call i1 @put(ptr %frame, i64 %slot, i64 %tag, i64 0, i64 %v)
  ret i1 true
no:
  ret i1 false
}

; all arrays have to be on one device
define internal i1 @located(ptr %frame, i64 %device) {
  %before = field Frame.device of %frame
  %first = icmp eq i64 %before, $UNKNOWN_DEVICE
  %same = icmp eq i64 %before, %device
  set Frame.device of %frame to i64 %device
  %fine = or i1 %first, %same
  ret i1 %fine
}

; memory that kernels on the host may reach through an argument
define internal i1 @span(ptr %frame, i64 %start, i64 %nbytes) {
  %n = field Frame.arrays of %frame
  %room = icmp ult i64 %n, $ARRAYS
  br i1 %room, label %good, label %no
good:
  %spans = field Frame.spans of %frame as ptr
  %twice = shl i64 %n, 1
  %sp = getelementptr i64, ptr %spans, i64 %twice
  store i64 %start, ptr %sp
  %end = add i64 %start, %nbytes
  %ep = getelementptr i64, ptr %sp, i64 1
  store i64 %end, ptr %ep
  %next = add i64 %n, 1
  set Frame.arrays of %frame to i64 %next
  %total = field Frame.bytes of %frame
  %more = add i64 %total, %nbytes
  set Frame.bytes of %frame to i64 %more
  ret i1 true
no:
  ret i1 false
}

define internal i64 @alignment(ptr %rule, i64 %address) {
  %aligns = field Rule.aligns of %rule
  %rest = and i64 %address, 15
  %even = icmp eq i64 %rest, 0
  %even64 = zext i1 %even to i64
  %aligned = and i64 %even64, %aligns
  ret i64 %aligned
}

; whether %o is a tensor whose signature is remembered; then what PyTorch said about it
define internal i1 @remembered(ptr %fn, ptr %o, ptr %dtype, ptr %device) {
entry:
  %impl_at = field Fn.impl_at of %fn
  %readable = icmp ne i64 %impl_at, 0
  br i1 %readable, label %look, label %no
look:
  %ip = getelementptr i8, ptr %o, i64 %impl_at
  %impl = load ptr, ptr %ip
  %at = field Fn.signature_at of %fn
  %sp = getelementptr i8, ptr %impl, i64 %at
  %first = load i64, ptr %sp
  %sq = getelementptr i8, ptr %sp, i64 8
  %second = load i64, ptr %sq
  %memo = field Fn.memo of %fn as ptr
  br label %loop
loop:
  %i = phi i64 [ 0, %look ], [ %next, %other ]
  %done = icmp uge i64 %i, $MEMO
  br i1 %done, label %no, label %compare
compare:
  %four = shl i64 %i, 2
  %place = add i64 %four, 1
  %p = getelementptr i64, ptr %memo, i64 %place
  %a = load i64, ptr %p
  %q = getelementptr i64, ptr %p, i64 1
  %b = load i64, ptr %q
  %samea = icmp eq i64 %a, %first
  %sameb = icmp eq i64 %b, %second
  %same = and i1 %samea, %sameb
  br i1 %same, label %yes, label %other
other:
  %next = add i64 %i, 1
  br label %loop
yes:
  %tp = getelementptr i64, ptr %p, i64 2
  %t = load i64, ptr %tp
  store i64 %t, ptr %dtype
  %dp = getelementptr i64, ptr %p, i64 3
  %d = load i64, ptr %dp
  store i64 %d, ptr %device
  ret i1 true
no:
  ret i1 false
}

define internal void @signature(ptr %fn, ptr %o, ptr %out) {
entry:
  %impl_at = field Fn.impl_at of %fn
  %readable = icmp ne i64 %impl_at, 0
  br i1 %readable, label %look, label %end
look:
  %ip = getelementptr i8, ptr %o, i64 %impl_at
  %impl = load ptr, ptr %ip
  %at = field Fn.signature_at of %fn
  %sp = getelementptr i8, ptr %impl, i64 %at
  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %sp, i64 16, i1 false)
  br label %end
end:
  ret void
}

; dtype and device as PyTorch says them, of a tensor whose negation is not put off; remembered by its signature
define internal i1 @asked(ptr %fn, ptr %o, ptr %dtype_out, ptr %device_out) {
entry:
  %before = alloca [2 x i64]
  %after = alloca [2 x i64]
  call void @signature(ptr %fn, ptr %o, ptr %before)
  %name = field Fn.dtype of %fn as ptr
  %dtype = call ptr @PyObject_GetAttr(ptr %o, ptr %name)
  %unknown = icmp eq ptr %dtype, null
  br i1 %unknown, label %no, label %typed
typed:
  ; only its identity counts: an entry that has the same one keeps it alive
  call void @Py_DecRef(ptr %dtype)
  %word = ptrtoint ptr %dtype to i64
  store i64 %word, ptr %dtype_out
  %is_neg = field Fn.is_neg of %fn as ptr
  %plain = icmp eq ptr %is_neg, null
  br i1 %plain, label %where, label %sign
sign:
  %negated = call ptr @ask(ptr %is_neg, ptr %o)
  %failed = icmp eq ptr %negated, null
  br i1 %failed, label %no, label %signed
signed:
  call void @Py_DecRef(ptr %negated)
  %straight = icmp eq ptr %negated, @False
  br i1 %straight, label %where, label %no
where:
  %get_device = field Fn.get_device of %fn as ptr
  %b = call i1 @number(ptr %get_device, ptr %o, ptr %device_out)
  br i1 %b, label %device, label %no
device:
  %impl_at = field Fn.impl_at of %fn
  %readable = icmp ne i64 %impl_at, 0
  br i1 %readable, label %same, label %yes
same:
  ; the questions may have run Python code that changed the tensor
  call void @signature(ptr %fn, ptr %o, ptr %after)
  %b0 = load i64, ptr %before
  %a0 = load i64, ptr %after
  %bp = getelementptr i64, ptr %before, i64 1
  %b1 = load i64, ptr %bp
  %ap = getelementptr i64, ptr %after, i64 1
  %a1 = load i64, ptr %ap
  %same0 = icmp eq i64 %b0, %a0
  %same1 = icmp eq i64 %b1, %a1
  %same01 = and i1 %same0, %same1
  ; the number of the device lies in byte 3
  %d = load i64, ptr %device_out
  %shifted = lshr i64 %a0, 24
  %byte = trunc i64 %shifted to i8
  %ordinal = sext i8 %byte to i64
  %located = icmp eq i64 %ordinal, %d
  %sure = and i1 %same01, %located
  br i1 %sure, label %remember, label %yes
remember:
  %memo = field Fn.memo of %fn as ptr
  %n = load i64, ptr %memo
  %n1 = add i64 %n, 1
  %next = and i64 %n1, $MEMO_MASK
  store i64 %next, ptr %memo
  %four = shl i64 %n, 2
  %place = add i64 %four, 1
  %p = getelementptr i64, ptr %memo, i64 %place
  store i64 %a0, ptr %p
  %p1 = getelementptr i64, ptr %p, i64 1
  store i64 %a1, ptr %p1
  %p2 = getelementptr i64, ptr %p, i64 2
  store i64 %word, ptr %p2
  %p3 = getelementptr i64, ptr %p, i64 3
  store i64 %d, ptr %p3
  br label %yes
yes:
  ret i1 true
no:
  ret i1 false
}

define internal i1 @tensor(ptr %fn, ptr %frame, ptr %rule, i64 %slot, ptr %o) {
entry:
  %out = alloca i64
  %size = alloca i64
  %dtype = alloca i64
  %device = alloca i64
  %data_ptr = field Fn.data_ptr of %fn as ptr
  %a = call i1 @number(ptr %data_ptr, ptr %o, ptr %out)
  br i1 %a, label %address, label %no
address:
  %v = load i64, ptr %out
  %null = icmp eq i64 %v, 0
  br i1 %null, label %no, label %recall
recall:
  %r = call i1 @remembered(ptr %fn, ptr %o, ptr %dtype, ptr %device)
  br i1 %r, label %known, label %ask
ask:
  %q = call i1 @asked(ptr %fn, ptr %o, ptr %dtype, ptr %device)
  br i1 %q, label %known, label %no
known:
  %d = load i64, ptr %device
  %c = call i1 @located(ptr %frame, i64 %d)
  br i1 %c, label %put, label %no
put:
  %word = load i64, ptr %dtype
  %aligned = call i64 @alignment(ptr %rule, i64 %v)
  %tag = or i64 %aligned, $TENSOR
  %e = call i1 @put(ptr %frame, i64 %slot, i64 %tag, i64 %word, i64 %v)
  %host = icmp eq i64 %d, $ON_HOST
  br i1 %host, label %storage, label %yes
storage:
  %get = field Fn.storage of %fn as ptr
  %s = call ptr @ask(ptr %get, ptr %o)
  %without = icmp eq ptr %s, null
  br i1 %without, label %no, label %ends
ends:
  %get_start = field Fn.storage_ptr of %fn as ptr
  %f = call i1 @number(ptr %get_start, ptr %s, ptr %out)
  br i1 %f, label %length, label %lost
length:
  %get_size = field Fn.storage_nbytes of %fn as ptr
  %g = call i1 @number(ptr %get_size, ptr %s, ptr %size)
  br i1 %g, label %found, label %lost
found:
  call void @Py_DecRef(ptr %s)
  %start = load i64, ptr %out
  %nbytes = load i64, ptr %size
  %h = call i1 @span(ptr %frame, i64 %start, i64 %nbytes)
  ret i1 %h
lost:
  call void @Py_DecRef(ptr %s)
  ret i1 false
yes:
  ret i1 true
no:
  ret i1 false
}
"""
