# What routines of the C library access for a program (memcpy, strlen …) is recorded where they are
# called: the bytes that a loop accesses which does the same.
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"

truth_tool check_called touches.c && truth_recorder || {
    fail "the tools build"
    exit
}

# record PROGRAM: records its accesses as PROGRAM.trace.
record() {
    pmodel run -q -o "$1.pmdb" --block 64 -P N=1 --env "PMODEL_HANDLER=$TMP/record_trace.so" \
        --env "TRACE_FILE=$TMP/$1.trace" -- "./$1" 40 >"$1.out" 2>&1
}

compare() {
    ./check_called "$1.pmdb" "$1.trace" 10000000 10002000
}

while read -r name options; do
    # shellcheck disable=SC2086 # several options
    gcc -O1 -g -w -fno-builtin -fno-tree-loop-distribute-patterns -foptimize-sibling-calls $options \
        -o "$name" "$TOP/tests/truth/library_calls.c" && "./$name" 40 >"$name.plain" && record "$name" || {
        fail "library_calls builds and runs with $options" "$(tail -3 "$name.out")"
        continue
    }
    check "$name prints what the plain program prints" grep -qxf "$name.plain" "$name.out"
    show "$name: calls access what loops access" compare "$name"
done <<'WAYS'
lazy -Wl,-z,lazy
now -Wl,-z,now
direct -fno-plt
fixed -no-pie
WAYS

pmodel run --instrument -q -o now.pm ./now && PMODEL_BLOCK=64 PMODEL_OUT=$TMP ./now.pm 2 faults >faults.out
./now 2 faults >faults.plain
check "calls that fault are left by a jump as in the plain program" cmp faults.plain faults.out

pmodel loops --groups ./now >groups 2>&1
check "a group has the routine's name" grep -qE 'memcpy.*called' groups

# The comparison itself.
{ head -c 24000 now.trace && tail -c +24025 now.trace; } >hole.trace
cp now.pmdb hole.pmdb
expect_error "a missing access is seen" 3 'run .* of accesses' compare hole
