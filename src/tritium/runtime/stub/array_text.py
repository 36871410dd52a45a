"""Launch stub: NumPy's arrays, read where they are; all arguments of a call, to its key."""

from __future__ import annotations

ARRAYS = """
; ---- NumPy's arrays, read where they are ----------------------------------------------------------------------------

; widen [low, high) by what the array %a covers; false for steps that are no multiples of its element size
define internal i1 @reach(ptr %a, ptr %low, ptr %high) {
entry:
  %f = getelementptr i8, ptr %a, i64 $ARRAY_AT
  %data = load i64, ptr %f
  %np = getelementptr i8, ptr %f, i64 8
  %n32 = load i32, ptr %np
  %n = sext i32 %n32 to i64
  %dp = getelementptr i8, ptr %f, i64 16
  %dims = load ptr, ptr %dp
  %sp = getelementptr i8, ptr %f, i64 24
  %steps = load ptr, ptr %sp
  %tp = getelementptr i8, ptr %f, i64 40
  %dtype = load ptr, ptr %tp
  %zp = getelementptr i8, ptr %dtype, i64 $SIZE_AT
  %size32 = load i32, ptr %zp
  %size = zext i32 %size32 to i64
  %nothing = icmp eq i64 %size, 0
  br i1 %nothing, label %no, label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %step ]
  %first = phi i64 [ %data, %entry ], [ %first2, %step ]
  %last = phi i64 [ %data, %entry ], [ %last2, %step ]
  %done = icmp eq i64 %i, %n
  br i1 %done, label %end, label %axis
axis:
  %ep = getelementptr i64, ptr %dims, i64 %i
  %extent = load i64, ptr %ep
  %empty = icmp eq i64 %extent, 0
  br i1 %empty, label %yes, label %some
some:
  %pp = getelementptr i64, ptr %steps, i64 %i
  %pace = load i64, ptr %pp
  %over = srem i64 %pace, %size
  %odd = icmp ne i64 %over, 0
  br i1 %odd, label %no, label %step
step:
  %less = sub i64 %extent, 1
  %far = mul i64 %less, %pace
  %back = icmp slt i64 %pace, 0
  %down = select i1 %back, i64 %far, i64 0
  %up = select i1 %back, i64 0, i64 %far
  %first2 = add i64 %first, %down
  %last2 = add i64 %last, %up
  %next = add i64 %i, 1
  br label %loop
end:
  %past = add i64 %last, %size
  %l = load i64, ptr %low
  %lower = icmp ult i64 %first, %l
  %l2 = select i1 %lower, i64 %first, i64 %l
  store i64 %l2, ptr %low
  %h = load i64, ptr %high
  %higher = icmp ugt i64 %past, %h
  %h2 = select i1 %higher, i64 %past, i64 %h
  store i64 %h2, ptr %high
  br label %yes
yes:
  ret i1 true
no:
  ret i1 false
}

; the array that owns the memory as far as NumPy knows: through bases that are plain arrays; null for other arrays
define internal ptr @root(ptr %a, ptr %arrays) {
entry:
  br label %look
look:
  %now = phi ptr [ %a, %entry ], [ %base, %deeper ]
  %f = getelementptr i8, ptr %now, i64 $ARRAY_AT
  %bp = getelementptr i8, ptr %f, i64 32
  %base = load ptr, ptr %bp
  %own = icmp eq ptr %base, null
  br i1 %own, label %found, label %based
based:
  %tp = getelementptr i8, ptr %base, i64 $TYPE_AT
  %type = load ptr, ptr %tp
  %plain = icmp eq ptr %type, %arrays
  br i1 %plain, label %deeper, label %foreign
deeper:
  br label %look
foreign:
  %derived = call i32 @PyType_IsSubtype(ptr %type, ptr %arrays)
  %is = icmp ne i32 %derived, 0
  br i1 %is, label %no, label %found
found:
  ret ptr %now
no:
  ret ptr null
}

define internal i1 @array(ptr %fn, ptr %frame, ptr %rule, i64 %slot, ptr %o) {
entry:
  %low = alloca i64
  %high = alloca i64
  store i64 -1, ptr %low
  store i64 0, ptr %high
  %arrays = field Fn.array of %fn as ptr
  %root = call ptr @root(ptr %o, ptr %arrays)
  %lost = icmp eq ptr %root, null
  br i1 %lost, label %no, label %own
own:
  %a = call i1 @reach(ptr %o, ptr %low, ptr %high)
  br i1 %a, label %measured, label %no
measured:
  %h = load i64, ptr %high
  %empty = icmp eq i64 %h, 0
  br i1 %empty, label %no, label %other
other:
  %same = icmp eq ptr %root, %o
  br i1 %same, label %placed, label %wider
wider:
  %b = call i1 @reach(ptr %root, ptr %low, ptr %high)
  br i1 %b, label %placed, label %no
placed:
  %c = call i1 @located(ptr %frame, i64 $ON_HOST)
  br i1 %c, label %put, label %no
put:
  %f = getelementptr i8, ptr %o, i64 $ARRAY_AT
  %v = load i64, ptr %f
  %tp = getelementptr i8, ptr %f, i64 40
  %word = load i64, ptr %tp
  %gp = getelementptr i8, ptr %f, i64 48
  %flags = load i32, ptr %gp
  %open = and i32 %flags, 1024
  %writable = icmp ne i32 %open, 0
  %w = select i1 %writable, i64 $WRITABLE, i64 0
  %aligned = call i64 @alignment(ptr %rule, i64 %v)
  %t1 = or i64 %aligned, $ARRAY
  %tag = or i64 %t1, %w
  %d = call i1 @put(ptr %frame, i64 %slot, i64 %tag, i64 %word, i64 %v)
  %start = load i64, ptr %low
  %end = load i64, ptr %high
  %nbytes = sub i64 %end, %start
  %e = call i1 @span(ptr %frame, i64 %start, i64 %nbytes)
  ret i1 %e
no:
  ret i1 false
}
"""

EXTRACT = """
; ---- all arguments: the key -----------------------------------------------------------------------------------------

define internal i1 @read(ptr %fn, ptr %frame, ptr %rule, i64 %slot, ptr %o) {
entry:
  %tp = getelementptr i8, ptr %o, i64 $TYPE_AT
  %type = load ptr, ptr %tp
  %kind = field Rule.kind of %rule
  %const = icmp eq i64 %kind, $CONSTANT
  br i1 %const, label %fixed, label %value
fixed:
  %a = call i1 @constant(ptr %frame, i64 %slot, ptr %o, ptr %type)
  ret i1 %a
value:
  %int = icmp eq ptr %type, @Integer
  br i1 %int, label %integer, label %other
integer:
  %b = call i1 @integer(ptr %frame, ptr %rule, i64 %slot, ptr %o)
  ret i1 %b
other:
  %free = icmp eq i64 %kind, $FREE
  %isfloat = icmp eq ptr %type, @Float
  br i1 %isfloat, label %float, label %nofloat
float:
  %annotated = icmp eq i64 %kind, $FLOAT
  %wanted = or i1 %free, %annotated
  br i1 %wanted, label %real, label %no
real:
  %d = call double @PyFloat_AsDouble(ptr %o)
  %bits = bitcast double %d to i64
  %c = call i1 @put(ptr %frame, i64 %slot, i64 $REAL, i64 0, i64 %bits)
  ret i1 true
nofloat:
  br i1 %free, label %any, label %no
any:
  %tensor = field Fn.tensor of %fn as ptr
  %weight = field Fn.weight of %fn as ptr
  %istensor = icmp eq ptr %type, %tensor
  %isweight = icmp eq ptr %type, %weight
  %torch = or i1 %istensor, %isweight
  br i1 %torch, label %tensors, label %notorch
tensors:
  %e = call i1 @tensor(ptr %fn, ptr %frame, ptr %rule, i64 %slot, ptr %o)
  ret i1 %e
notorch:
  %array = field Fn.array of %fn as ptr
  %isarray = icmp eq ptr %type, %array
  br i1 %isarray, label %arrays, label %small
arrays:
  %f = call i1 @array(ptr %fn, ptr %frame, ptr %rule, i64 %slot, ptr %o)
  ret i1 %f
small:
  %isnone = icmp eq ptr %o, @None
  br i1 %isnone, label %none, label %logical
none:
  %g = call i1 @put(ptr %frame, i64 %slot, i64 $NONE, i64 0, i64 0)
  ret i1 true
logical:
  %istrue = icmp eq ptr %o, @True
  %isfalse = icmp eq ptr %o, @False
  %isbool = or i1 %istrue, %isfalse
  br i1 %isbool, label %bool, label %no
bool:
  %truth = zext i1 %istrue to i64
  %h = call i1 @put(ptr %frame, i64 %slot, i64 $BOOL, i64 0, i64 %truth)
  ret i1 true
no:
  ret i1 false
}

; whether host arrays are apart (1) and too large for the caches (2)
define internal i64 @variant(ptr %frame) {
entry:
  %n = field Frame.arrays of %frame
  %spans = field Frame.spans of %frame as ptr
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %nexti, %inner ]
  %apart = phi i1 [ true, %entry ], [ %still, %inner ]
  %all = icmp uge i64 %i, %n
  br i1 %all, label %end, label %begin
begin:
  %i2 = shl i64 %i, 1
  %ip = getelementptr i64, ptr %spans, i64 %i2
  %istart = load i64, ptr %ip
  %iq = getelementptr i64, ptr %ip, i64 1
  %iend = load i64, ptr %iq
  %nexti = add i64 %i, 1
  br label %inner
inner:
  %j = phi i64 [ %nexti, %begin ], [ %nextj, %pair ]
  %still = phi i1 [ %apart, %begin ], [ %both, %pair ]
  %last = icmp uge i64 %j, %n
  br i1 %last, label %outer, label %pair
pair:
  %j2 = shl i64 %j, 1
  %jp = getelementptr i64, ptr %spans, i64 %j2
  %jstart = load i64, ptr %jp
  %jq = getelementptr i64, ptr %jp, i64 1
  %jend = load i64, ptr %jq
  %before = icmp uge i64 %jstart, %iend
  %behind = icmp uge i64 %istart, %jend
  %clear = or i1 %before, %behind
  %both = and i1 %still, %clear
  %nextj = add i64 %j, 1
  br label %inner
end:
  %bytes = field Frame.bytes of %frame
  %large = icmp ugt i64 %bytes, $STREAM
  %second = select i1 %large, i64 2, i64 0
  %first = zext i1 %apart to i64
  %v = or i64 %first, %second
  ret i64 %v
}

; the shape of a call: as many arguments by position, and these keywords in this order
define internal ptr @shape(ptr %fn, i64 %given, ptr %names) {
entry:
  %count = field Fn.shape_count of %fn
  %shapes = field Fn.shapes of %fn as ptr
  %plain = icmp eq ptr %names, null
  br i1 %plain, label %loop, label %measure
measure:
  %size = call i64 @PyTuple_Size(ptr %names)
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ 0, %measure ], [ %next, %other ]
  %keywords = phi i64 [ 0, %entry ], [ %size, %measure ], [ %keywords, %other ]
  %done = icmp uge i64 %i, %count
  br i1 %done, label %no, label %look
look:
  %sp = getelementptr ptr, ptr %shapes, i64 %i
  %s = load ptr, ptr %sp
  %g = field Shape.given of %s
  %k = field Shape.keywords of %s
  %sameg = icmp eq i64 %g, %given
  %samek = icmp eq i64 %k, %keywords
  %same = and i1 %sameg, %samek
  br i1 %same, label %compare, label %other
compare:
  %wanted = field Shape.names of %s as ptr
  br label %name
name:
  %j = phi i64 [ 0, %compare ], [ %nextj, %equal ]
  %found = icmp uge i64 %j, %keywords
  br i1 %found, label %yes, label %each
each:
  %theirs = call ptr @PyTuple_GetItem(ptr %names, i64 %j)
  %op = getelementptr ptr, ptr %wanted, i64 %j
  %ours = load ptr, ptr %op
  %eq = icmp eq ptr %theirs, %ours
  br i1 %eq, label %equal, label %other
equal:
  %nextj = add i64 %j, 1
  br label %name
other:
  %next = add i64 %i, 1
  br label %loop
yes:
  ret ptr %s
no:
  ret ptr null
}

define internal i1 @extract(ptr %fn, ptr %frame, ptr %args, i64 %given, ptr %names) {
entry:
  %s = call ptr @shape(ptr %fn, i64 %given, ptr %names)
  %unknown = icmp eq ptr %s, null
  br i1 %unknown, label %no, label %known
known:
  set Frame.shape of %frame to ptr %s
  %slots = field Shape.slots of %s
  %sources = field Shape.sources of %s as ptr
  %fixed = field Shape.fixed of %s as ptr
  %rules = field Shape.rules of %s as ptr
  %objects = field Frame.objects of %frame as ptr
  br label %loop
loop:
  %i = phi i64 [ 0, %known ], [ %next, %more ]
  %done = icmp uge i64 %i, %slots
  br i1 %done, label %end, label %one
one:
  %fp = getelementptr ptr, ptr %fixed, i64 %i
  %default = load ptr, ptr %fp
  %taken = icmp eq ptr %default, null
  %xp = getelementptr i64, ptr %sources, i64 %i
  %x = load i64, ptr %xp
  %ap = getelementptr ptr, ptr %args, i64 %x
  %at = select i1 %taken, ptr %ap, ptr %fp
  %o = load ptr, ptr %at
  %bp = getelementptr ptr, ptr %objects, i64 %i
  store ptr %o, ptr %bp
  %rp = getelementptr ptr, ptr %rules, i64 %i
  %rule = load ptr, ptr %rp
  %r = call i1 @read(ptr %fn, ptr %frame, ptr %rule, i64 %i, ptr %o)
  br i1 %r, label %more, label %no
more:
  %next = add i64 %i, 1
  br label %loop
end:
  %device = field Frame.device of %frame
  %variant = call i64 @variant(ptr %frame)
  %index = field Shape.index of %s
  %key = field Frame.key of %frame as ptr
  store i64 %index, ptr %key
  %k1 = getelementptr i64, ptr %key, i64 1
  store i64 %device, ptr %k1
  %k2 = getelementptr i64, ptr %key, i64 2
  store i64 %variant, ptr %k2
  %k3 = getelementptr i64, ptr %key, i64 3
  store i64 %slots, ptr %k3
  %somewhere = icmp ne i64 %device, $UNKNOWN_DEVICE
  ret i1 %somewhere
no:
  ret i1 false
}
"""
