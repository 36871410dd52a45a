"""Launch stub: the functions that Python calls."""

from __future__ import annotations

ENTRY_POINTS = """
; ---- what Python calls --------------------------------------------------------------------------------------------------

define internal ptr @record(ptr %self) {
  %number = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %r = call ptr @PyLong_AsVoidPtr(ptr %number)
  ret ptr %r
}

define ptr @launch(ptr %self, ptr %args, i64 %n, ptr %names) {
entry:
  %frame = alloca [8 x i64]
  %key = alloca [$KEY x i64]
  %values = alloca [$SLOTS x i64]
  %objects = alloca [$SLOTS x ptr]
  %spans = alloca [$SPANS x i64]
  %block = alloca [$BLOCK x i64]
  %grid = alloca [3 x i64]
  set Frame.device of %frame to i64 $UNKNOWN_DEVICE
  set Frame.arrays of %frame to i64 0
  set Frame.bytes of %frame to i64 0
  set Frame.key of %frame to ptr %key
  set Frame.values of %frame to ptr %values
  set Frame.objects of %frame to ptr %objects
  set Frame.spans of %frame to ptr %spans
  %fn = call ptr @record(ptr %self)
  %early = field Fn.state of %fn as ptr
  %nothing = icmp eq ptr %early, null
  %bare = icmp slt i64 %n, 1
  %hopeless = or i1 %nothing, %bare
  br i1 %hopeless, label %slow, label %gather
gather:
  %a = call i1 @extract(ptr %fn, ptr %frame, ptr %args, i64 %n, ptr %names)
  br i1 %a, label %check, label %miss
check:
  %state = field Fn.state of %fn as ptr
  %gone = icmp eq ptr %state, null
  br i1 %gone, label %miss, label %guarded
guarded:
  %b = call i1 @holds(ptr %state)
  br i1 %b, label %search, label %miss
search:
  %e = call ptr @find(ptr %state, ptr %key)
  %unknown = icmp eq ptr %e, null
  br i1 %unknown, label %miss, label %found
found:
  %owner = field Entry.owner of %e as ptr
  call void @Py_IncRef(ptr %owner)
  %g = load ptr, ptr %args
  %c = call i64 @counts(ptr %fn, ptr %frame, ptr %g, ptr %grid)
  switch i64 %c, label %failed [ i64 0, label %done
    i64 1, label %go ]
go:
  %x = load i64, ptr %grid
  %yp = getelementptr i64, ptr %grid, i64 1
  %y = load i64, ptr %yp
  %zp = getelementptr i64, ptr %grid, i64 2
  %z = load i64, ptr %zp
  %rest = getelementptr i64, ptr %block, i64 4
  call void @pack(ptr %e, ptr %values, ptr %rest)
  %device = field Entry.device of %e
  %host = icmp eq i64 %device, $ON_HOST
  br i1 %host, label %cpu, label %gpu
cpu:
  %d = call i1 @on_host(ptr %e, ptr %block, i64 %x, i64 %y, i64 %z)
  br i1 %d, label %done, label %failed
gpu:
  %f = call i1 @on_gpu(ptr %e, ptr %rest, i64 %x, i64 %y, i64 %z)
  br i1 %f, label %done, label %failed
done:
  %kernel = field Entry.kernel of %e as ptr
  call void @Py_IncRef(ptr %kernel)
  call void @Py_DecRef(ptr %owner)
  ret ptr %kernel
failed:
  call void @Py_DecRef(ptr %owner)
  ret ptr null
miss:
  %error = call ptr @PyErr_Occurred()
  %silent = icmp eq ptr %error, null
  br i1 %silent, label %slow, label %raised
raised:
  ; an interrupt is not ours to drop
  %usual = call i32 @PyErr_ExceptionMatches(ptr @Exception)
  %ordinary = icmp ne i32 %usual, 0
  br i1 %ordinary, label %clear, label %out
out:
  ret ptr null
clear:
  call void @PyErr_Clear()
  br label %slow
slow:
  %way = field Fn.slow of %fn as ptr
  %r = call ptr @PyObject_Vectorcall(ptr %way, ptr %args, i64 %n, ptr %names)
  ret ptr %r
}

define ptr @describe(ptr %self, ptr %args, i64 %n, ptr %names) {
entry:
  %frame = alloca [8 x i64]
  %key = alloca [$KEY x i64]
  %values = alloca [$SLOTS x i64]
  %objects = alloca [$SLOTS x ptr]
  %all = alloca [$KEY1 x i64]
  %spans = alloca [$SPANS x i64]
  set Frame.device of %frame to i64 $UNKNOWN_DEVICE
  set Frame.arrays of %frame to i64 0
  set Frame.bytes of %frame to i64 0
  set Frame.key of %frame to ptr %key
  set Frame.values of %frame to ptr %values
  set Frame.objects of %frame to ptr %objects
  set Frame.spans of %frame to ptr %spans
  %fn = call ptr @record(ptr %self)
  %a = call i1 @extract(ptr %fn, ptr %frame, ptr %args, i64 %n, ptr %names)
  br i1 %a, label %yes, label %no
yes:
  %sp = getelementptr i64, ptr %key, i64 3
  %slots = load i64, ptr %sp
  %twice = shl i64 %slots, 1
  %words = add i64 %twice, $HEAD
  %h = call i64 @hash(ptr %key, i64 %words)
  ; the hash, then the key
  store i64 %h, ptr %all
  %behind = getelementptr i64, ptr %all, i64 1
  %nbytes = shl i64 %words, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %behind, ptr %key, i64 %nbytes, i1 false)
  %total = add i64 %nbytes, 8
  %r = call ptr @PyBytes_FromStringAndSize(ptr %all, i64 %total)
  ret ptr %r
no:
  call void @PyErr_Clear()
  call void @Py_IncRef(ptr @None)
  ret ptr @None
}
"""

REPEAT = """
define ptr @repeat(ptr %self, ptr %args, i64 %n, ptr %names) {
entry:
  %packed = alloca [$SLOTS x i64]
  %over = alloca i32
  %one = alloca ptr
  %bound = call ptr @record(ptr %self)
  %most = field Bound.given of %bound
  %many = icmp sgt i64 %n, %most
  %named = icmp ne ptr %names, null
  %odd = or i1 %many, %named
  br i1 %odd, label %slow, label %begin
begin:
  %e = field Bound.entry of %bound as ptr
  %defaults = field Bound.defaults of %bound as ptr
  %conversions = field Bound.conversions of %bound as ptr
  %count = field Entry.pack_count of %e
  br label %loop
loop:
  %i = phi i64 [ 0, %begin ], [ %next, %store ]
  %done = icmp uge i64 %i, %count
  br i1 %done, label %ready, label %take
take:
  %given = icmp slt i64 %i, %n
  %ap = getelementptr ptr, ptr %args, i64 %i
  %dp = getelementptr ptr, ptr %defaults, i64 %i
  %from = select i1 %given, ptr %ap, ptr %dp
  %o = load ptr, ptr %from
  %cp = getelementptr i64, ptr %conversions, i64 %i
  %conversion = load i64, ptr %cp
  switch i64 %conversion, label %kept [ i64 $ADDRESS, label %address
    i64 $WHOLE, label %whole
    i64 $DOUBLE, label %real
    i64 $SINGLE, label %real ]
kept:
  %k = ptrtoint ptr %o to i64
  br label %store
address:
  %otp = getelementptr i8, ptr %o, i64 $TYPE_AT
  %otype = load ptr, ptr %otp
  %tensor = field Bound.tensor of %bound as ptr
  %istensor = icmp eq ptr %otype, %tensor
  br i1 %istensor, label %direct, label %method
direct:
  %asking = field Bound.ask of %bound as ptr
  %r1 = call ptr @ask(ptr %asking, ptr %o)
  br label %answered
method:
  store ptr %o, ptr %one
  %name = field Bound.data_ptr of %bound as ptr
  %r2 = call ptr @PyObject_VectorcallMethod(ptr %name, ptr %one, i64 1, ptr null)
  br label %answered
answered:
  %r = phi ptr [ %r1, %direct ], [ %r2, %method ]
  %lost = icmp eq ptr %r, null
  br i1 %lost, label %clear, label %located
located:
  %p = call ptr @PyLong_AsVoidPtr(ptr %r)
  call void @Py_DecRef(ptr %r)
  %address64 = ptrtoint ptr %p to i64
  %null = icmp eq i64 %address64, 0
  br i1 %null, label %clear, label %store
whole:
  %v = call i64 @PyLong_AsLongLongAndOverflow(ptr %o, ptr %over)
  %ov = load i32, ptr %over
  %fits = icmp eq i32 %ov, 0
  %doubtful = icmp eq i64 %v, -1
  %bad1 = xor i1 %fits, true
  %look = or i1 %doubtful, %bad1
  br i1 %look, label %error, label %store
error:
  %err = call ptr @PyErr_Occurred()
  %clean = icmp eq ptr %err, null
  %usable = and i1 %clean, %fits
  br i1 %usable, label %store, label %clear
real:
  %tp = getelementptr i8, ptr %o, i64 $TYPE_AT
  %type = load ptr, ptr %tp
  %isfloat = icmp eq ptr %type, @Float
  br i1 %isfloat, label %float, label %clear
float:
  %d = call double @PyFloat_AsDouble(ptr %o)
  %bits = bitcast double %d to i64
  %narrow = icmp eq i64 %conversion, $SINGLE
  %how = zext i1 %narrow to i64
  %w = call i64 @convert(i64 %bits, i64 %how)
  br label %store
store:
  %value = phi i64 [ %k, %kept ], [ %address64, %located ], [ %v, %whole ], [ %v, %error ], [ %w, %float ]
  %pp = getelementptr i64, ptr %packed, i64 %i
  store i64 %value, ptr %pp
  %next = add i64 %i, 1
  br label %loop
ready:
  %x = field Bound.grid_x of %bound
  %y = field Bound.grid_y of %bound
  %z = field Bound.grid_z of %bound
  %f = call i1 @on_gpu(ptr %e, ptr %packed, i64 %x, i64 %y, i64 %z)
  br i1 %f, label %launched, label %failed
launched:
  call void @Py_IncRef(ptr @None)
  ret ptr @None
failed:
  ret ptr null
clear:
  call void @PyErr_Clear()
  br label %slow
slow:
  ; keywords, values that need care: the function that Python runs, which words the errors too
  %way = field Bound.slow of %bound as ptr
  %s = call ptr @PyObject_Vectorcall(ptr %way, ptr %args, i64 %n, ptr %names)
  ret ptr %s
}
"""
