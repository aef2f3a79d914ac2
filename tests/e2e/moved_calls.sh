# Calls that move with the code around them: their frames are those of the old calls, as readelf reads them; backtraces
# and what reads its return address are as in the plain program; which calls stay.
. "$TOP/tests/lib.sh"
. "$TOP/tests/rewrite/rewrite.bash"
. "$TOP/tests/rewrite/frame_rows.bash"

# copy_of PROGRAM CALLS: ./copy
copy_of() { PMODEL_CALLS=$2 "$tool" -r "$runtime" "$1" copy; }

# same_frames PROGRAM: at every call that moved.
same_frames() {
    local different n
    copy_of "$1" moved || { fail "$1 is instrumented"; return; }
    read -r different n <<<"$(different_frames copy)"
    check "$(basename "$1"): frames at all calls that moved are those before ($n)" test "$different" = 0 -a "$n" -gt 0
}

for flags in "-O2 -rdynamic" "-O0 -no-pie -rdynamic" "-O3 -march=x86-64-v3 -mindirect-branch=thunk -fcf-protection=none -rdynamic"; do
    build "$flags" backtraces
    same_behaviour "backtraces ($flags)" "$TMP/backtraces"
    build "$flags" leaves_cxx
    same_frames ./leaves_cxx
done
for program in lua5.4 python3 perl git; do
    same_frames "$(realpath "$(command -v "$program")")"
done

# A wrong row is seen: the test can fail.
copy_of ./leaves_cxx moved
read -r address offset size <<<"$(section copy .pmodel_returns)"
printf '\1\0\0\0' | dd of=copy bs=1 seek=$((16#$offset + 4)) conv=notrunc 2>/dev/null
read -r different n <<<"$(different_frames copy)"
check "a return that leads to other code is found" test "$different" -ge 1

# moved COPY: how many calls moved.
moved() {
    local _ bytes
    read -r _ _ bytes <<<"$(section "$1" .pmodel_returns)"
    echo $((16#${bytes:-0} / 8))
}
copy_of ./leaves_cxx kept
check "with calls kept none moves" test "$(moved copy)" = 0
gcc -O2 -pg -I"$TOP" -o profiled "$programs/leaves.c" -fopenmp
copy_of ./profiled moved
check "nor in a program for gprof, which looks at return addresses" test "$(moved copy)" = 0
g++ -O2 -static-libgcc -o own_unwinder "$programs/leaves_cxx.cc" -pthread
copy_of ./own_unwinder moved
check "nor in one that has an unwinder of its own" test "$(moved copy)" = 0
gcc -O2 -I"$TOP" -o leaves "$programs/leaves.c" -fopenmp
pmodel run --instrument -q --calls kept -o copy leaves
check "pmodel run --instrument --calls kept" test "$(moved copy)" = 0
pmodel run --instrument -q --calls moved -o copy leaves
check "pmodel run --instrument --calls moved" test "$(moved copy)" -gt 0
pmodel run --instrument -q --calls away -o copy leaves 2>message
check "another word is an error" test "$(cat message)" = "pmodel: calls are 'moved' or 'kept', not 'away'"
