"""Launch stub: what has to hold, the entry of a key, the grid."""

from __future__ import annotations

FIND = """
; ---- what has to hold, and the entry ----------------------------------------------------------------------------------

define internal i1 @settings(ptr %gate) {
entry:
  %out = alloca ptr
  %variable = field Gate.variable of %gate as ptr
  %got = call i32 @PyContextVar_Get(ptr %variable, ptr @None, ptr %out)
  %failed = icmp ne i32 %got, 0
  br i1 %failed, label %no, label %overridden
overridden:
  %now = load ptr, ptr %out
  call void @Py_DecRef(ptr %now)
  %then = field Gate.overrides of %gate as ptr
  %unchanged = icmp eq ptr %now, %then
  br i1 %unchanged, label %environment, label %no
environment:
  %os = field Gate.os of %gate as ptr
  %name = field Gate.environ_name of %gate as ptr
  %e = call ptr @PyDict_GetItemWithError(ptr %os, ptr %name)
  %known = field Gate.environ of %gate as ptr
  %still = icmp eq ptr %e, %known
  br i1 %still, label %texts, label %no
texts:
  %data = field Gate.data of %gate as ptr
  %vp = getelementptr i8, ptr %data, i64 $VERSION_AT
  %version = load i64, ptr %vp
  br i1 $VERSIONED, label %versioned, label %each
versioned:
  ; every change of a dictionary gives it another version
  %seen = field Gate.version of %gate
  %untouched = icmp eq i64 %version, %seen
  br i1 %untouched, label %yes, label %each
each:
  %count = field Gate.count of %gate
  %keys = field Gate.keys of %gate as ptr
  %values = field Gate.values of %gate as ptr
  br label %loop
loop:
  %i = phi i64 [ 0, %each ], [ %next, %text ]
  %done = icmp uge i64 %i, %count
  br i1 %done, label %same, label %text
text:
  %kp = getelementptr ptr, ptr %keys, i64 %i
  %k = load ptr, ptr %kp
  %v = call ptr @PyDict_GetItemWithError(ptr %data, ptr %k)
  %wp = getelementptr ptr, ptr %values, i64 %i
  %w = load ptr, ptr %wp
  %equal = icmp eq ptr %v, %w
  %next = add i64 %i, 1
  br i1 %equal, label %loop, label %no
same:
  set Gate.version of %gate to i64 %version
  br label %yes
yes:
  ret i1 true
no:
  ret i1 false
}

define internal i1 @holds(ptr %state) {
entry:
  %at = field State.epoch_at of %state as ptr
  %now = load i64, ptr %at
  %then = field State.epoch of %state
  %same = icmp eq i64 %now, %then
  br i1 %same, label %gate, label %no
gate:
  %g = field State.gate of %state as ptr
  %a = call i1 @settings(ptr %g)
  br i1 %a, label %guards, label %no
guards:
  %count = field State.guard_count of %state
  %list = field State.guards of %state as ptr
  br label %loop
loop:
  %i = phi i64 [ 0, %guards ], [ %next, %fine ]
  %done = icmp uge i64 %i, %count
  br i1 %done, label %yes, label %look
look:
  %gp = getelementptr ptr, ptr %list, i64 %i
  %guard = load ptr, ptr %gp
  %kind = field Guard.kind of %guard
  %owner = field Guard.owner of %guard as ptr
  %name = field Guard.name of %guard as ptr
  %value = field Guard.value of %guard as ptr
  switch i64 %kind, label %no [ i64 $IN_DICT, label %dict
    i64 $IN_CELL, label %cell
    i64 $EMPTY_LIST, label %list0 ]
dict:
  %v = call ptr @PyDict_GetItemWithError(ptr %owner, ptr %name)
  %veq = icmp eq ptr %v, %value
  br i1 %veq, label %fine, label %no
cell:
  %c = call ptr @PyCell_Get(ptr %owner)
  %bare = icmp eq ptr %c, null
  br i1 %bare, label %no, label %held
held:
  call void @Py_DecRef(ptr %c)
  %ceq = icmp eq ptr %c, %value
  br i1 %ceq, label %fine, label %no
list0:
  %n = call i64 @PyList_Size(ptr %owner)
  %empty = icmp eq i64 %n, 0
  br i1 %empty, label %fine, label %no
fine:
  %next = add i64 %i, 1
  br label %loop
yes:
  ret i1 true
no:
  ret i1 false
}

define internal i64 @hash(ptr %key, i64 %words) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %word ]
  %h = phi i64 [ 0, %entry ], [ %mixed, %word ]
  %done = icmp uge i64 %i, %words
  br i1 %done, label %end, label %word
word:
  %wp = getelementptr i64, ptr %key, i64 %i
  %w = load i64, ptr %wp
  %x = xor i64 %h, %w
  %m = mul i64 %x, -7046029254386353131
  %s = lshr i64 %m, 29
  %mixed = xor i64 %m, %s
  %next = add i64 %i, 1
  br label %loop
end:
  ret i64 %h
}

define internal ptr @find(ptr %state, ptr %key) {
entry:
  %sp = getelementptr i64, ptr %key, i64 3
  %slots = load i64, ptr %sp
  %twice = shl i64 %slots, 1
  %words = add i64 %twice, $HEAD
  %h = call i64 @hash(ptr %key, i64 %words)
  %count = field State.entry_count of %state
  %entries = field State.entries of %state as ptr
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %other ]
  %done = icmp uge i64 %i, %count
  br i1 %done, label %no, label %look
look:
  %ep = getelementptr ptr, ptr %entries, i64 %i
  %e = load ptr, ptr %ep
  %eh = field Entry.hash of %e
  %ew = field Entry.words of %e
  %sameh = icmp eq i64 %eh, %h
  %samew = icmp eq i64 %ew, %words
  %same = and i1 %sameh, %samew
  br i1 %same, label %compare, label %other
compare:
  %k = field Entry.key of %e as ptr
  br label %word
word:
  %j = phi i64 [ 0, %compare ], [ %nextj, %equal ]
  %found = icmp uge i64 %j, %words
  br i1 %found, label %yes, label %each
each:
  %ap = getelementptr i64, ptr %key, i64 %j
  %a = load i64, ptr %ap
  %bp = getelementptr i64, ptr %k, i64 %j
  %b = load i64, ptr %bp
  %eq = icmp eq i64 %a, %b
  br i1 %eq, label %equal, label %other
equal:
  %nextj = add i64 %j, 1
  br label %word
other:
  %next = add i64 %i, 1
  br label %loop
yes:
  ; the table of kernels can be emptied by programs
  %table = field Entry.table of %e as ptr
  %text = field Entry.table_key of %e as ptr
  %kernel = field Entry.kernel of %e as ptr
  %kept = call ptr @PyDict_GetItemWithError(ptr %table, ptr %text)
  %there = icmp eq ptr %kept, %kernel
  br i1 %there, label %good, label %no
good:
  ret ptr %e
no:
  ret ptr null
}
"""

GRID = """
; ---- the grid -----------------------------------------------------------------------------------------------------------

; a tuple of one to three counts from 1 to 2^31 - 1; false for anything else
define internal i1 @parse(ptr %g, ptr %out) {
entry:
  %over = alloca i32
  store i64 1, ptr %out
  %o1 = getelementptr i64, ptr %out, i64 1
  store i64 1, ptr %o1
  %o2 = getelementptr i64, ptr %out, i64 2
  store i64 1, ptr %o2
  %tp = getelementptr i8, ptr %g, i64 $TYPE_AT
  %type = load ptr, ptr %tp
  %tuple = icmp eq ptr %type, @Tuple
  br i1 %tuple, label %size, label %no
size:
  %n = call i64 @PyTuple_Size(ptr %g)
  %less = sub i64 %n, 1
  %usual = icmp ult i64 %less, 3
  br i1 %usual, label %loop, label %no
loop:
  %i = phi i64 [ 0, %size ], [ %next, %good ]
  %done = icmp uge i64 %i, %n
  br i1 %done, label %yes, label %axis
axis:
  %o = call ptr @PyTuple_GetItem(ptr %g, i64 %i)
  %itp = getelementptr i8, ptr %o, i64 $TYPE_AT
  %it = load ptr, ptr %itp
  %int = icmp eq ptr %it, @Integer
  br i1 %int, label %count, label %no
count:
  %v = call i64 @PyLong_AsLongLongAndOverflow(ptr %o, ptr %over)
  %ov = load i32, ptr %over
  %fits = icmp eq i32 %ov, 0
  %below = sub i64 %v, 1
  %usable = icmp ult i64 %below, 2147483647
  %fine = and i1 %fits, %usable
  br i1 %fine, label %good, label %no
good:
  %op = getelementptr i64, ptr %out, i64 %i
  store i64 %v, ptr %op
  %next = add i64 %i, 1
  br label %loop
yes:
  ret i1 true
no:
  ret i1 false
}

; the arguments by name, as grid functions get them: options first
define internal ptr @meta(ptr %frame) {
entry:
  %d = call ptr @PyDict_New()
  %lost = icmp eq ptr %d, null
  br i1 %lost, label %no, label %begin
begin:
  %s = field Frame.shape of %frame as ptr
  %slots = field Shape.slots of %s
  %parameters = field Shape.parameters of %s
  %names = field Shape.slot_names of %s as ptr
  %objects = field Frame.objects of %frame as ptr
  %none = icmp eq i64 %slots, 0
  br i1 %none, label %yes, label %loop
loop:
  %i = phi i64 [ 0, %begin ], [ %next, %more ]
  ; slots from `parameters` on are options
  %turned = add i64 %i, %parameters
  %wraps = icmp uge i64 %turned, %slots
  %back = sub i64 %turned, %slots
  %slot = select i1 %wraps, i64 %back, i64 %turned
  %np = getelementptr ptr, ptr %names, i64 %slot
  %name = load ptr, ptr %np
  %op = getelementptr ptr, ptr %objects, i64 %slot
  %o = load ptr, ptr %op
  %r = call i32 @PyDict_SetItem(ptr %d, ptr %name, ptr %o)
  %failed = icmp ne i32 %r, 0
  br i1 %failed, label %drop, label %more
more:
  %next = add i64 %i, 1
  %done = icmp uge i64 %next, %slots
  br i1 %done, label %yes, label %loop
yes:
  ret ptr %d
drop:
  call void @Py_DecRef(ptr %d)
  ret ptr null
no:
  ret ptr null
}

; 1: launch on %out; 0: there is nothing to launch; -1: an error is set
define internal i64 @counts(ptr %fn, ptr %frame, ptr %grid, ptr %out) {
entry:
  %a = call i1 @parse(ptr %grid, ptr %out)
  br i1 %a, label %launch, label %unusual
unusual:
  %callable = call i32 @PyCallable_Check(ptr %grid)
  %is = icmp ne i32 %callable, 0
  br i1 %is, label %function, label %given
given:
  call void @Py_IncRef(ptr %grid)
  br label %resolve
function:
  %meta = call ptr @meta(ptr %frame)
  %lost = icmp eq ptr %meta, null
  br i1 %lost, label %error, label %call
call:
  %answer = call ptr @ask(ptr %grid, ptr %meta)
  call void @Py_DecRef(ptr %meta)
  %raised = icmp eq ptr %answer, null
  br i1 %raised, label %error, label %answered
answered:
  %b = call i1 @parse(ptr %answer, ptr %out)
  br i1 %b, label %direct, label %resolve
direct:
  call void @Py_DecRef(ptr %answer)
  ret i64 1
resolve:
  %g = phi ptr [ %grid, %given ], [ %answer, %answered ]
  %resolver = field Fn.resolve of %fn as ptr
  %r = call ptr @ask(ptr %resolver, ptr %g)
  call void @Py_DecRef(ptr %g)
  %wrong = icmp eq ptr %r, null
  br i1 %wrong, label %error, label %resolved
resolved:
  %c = call i1 @parse(ptr %r, ptr %out)
  call void @Py_DecRef(ptr %r)
  %code = zext i1 %c to i64
  ret i64 %code
launch:
  ret i64 1
error:
  ret i64 -1
}
"""
