# `pmodel run --lib` and `--all-libs`: libraries are measured beside the program, and it behaves as
# without. Counts are compared with callgrind's, object by object.
# time limit: 600 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"

sources=$TOP/tests/libraries
check "the libraries are built" gcc -O2 -g -shared -fPIC -o libinner.so "$sources/inner.c" &&
    gcc -O2 -g -shared -fPIC -o later.so "$sources/later.c" || exit
truth_tool block_counts || {
    fail "the tool that reads stores builds"
    exit
}

# build_user FLAGS...: ./user, which needs libinner.so beside it.
build_user() {
    gcc -O2 -g -pthread -o user "$sources/user.c" "$@" -L. -linner -Wl,-rpath,"\$ORIGIN" -ldl
}

# same_behaviour TITLE PMODEL-OPTIONS... -- COMMAND...: with counters and with memory records.
same_behaviour() {
    local title=$1 options=() expected=0 actual mode
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    timeout 60 "$@" >plain.out 2>plain.err </dev/null || expected=$?
    for mode in --no-memory --block=64; do
        actual=0
        rm -f behaviour.pmdb
        pmodel run -q -o behaviour.pmdb "$mode" "${options[@]}" -- "$@" >measured.out 2>measured.err \
            </dev/null || actual=$?
        if [ "$actual" -ne "$expected" ]; then
            fail "$title ($mode)" "status $actual, plain $expected: $(tail -n 1 measured.err)"
        elif ! cmp -s plain.out measured.out; then
            fail "$title ($mode)" "prints something else"
        elif ! cmp -s plain.err measured.err; then
            fail "$title ($mode)" "says: $(tail -n 1 measured.err)"
        else
            pass "$title ($mode)"
        fi
    done
}

# equals_callgrind TITLE OPTIONS LIBRARY COMMAND...: every instruction of LIBRARY (as the store names
# it) was executed as often as callgrind counts.
equals_callgrind() {
    local title=$1 options=$2 name=$3 path
    shift 3
    rm -f counts.pmdb
    # shellcheck disable=SC2086 # several options
    pmodel run -q -o counts.pmdb --no-memory $options -P N=1 -- "$@" >counts.out || {
        fail "$title" "cannot be measured"
        return
    }
    valgrind --tool=callgrind --dump-instr=yes --collect-jumps=yes --compress-pos=no \
        --compress-strings=no --skip-plt=no --callgrind-out-file=callgrind.out "$@" \
        >callgrind.log 2>&1 </dev/null
    path=$(sed -n "s|^ob=\(/.*/$name\)\$|\1|p" callgrind.out | head -n 1)
    objdump -d --no-show-raw-insn "$path" >library.dis
    readelf --debug-dump=frames "$path" >library.frames 2>/dev/null
    ./block_counts counts.pmdb N=1 "$name" >library.blocks 2>library.errors
    if awk -v object="$path" -v frames=library.frames -f "$TOP/tests/truth/compare_counts.awk" library.dis library.blocks \
        callgrind.out >difference; then
        pass "$title"
        cat difference
    else
        fail "$title" "$(tail -n 3 difference)"
    fi
}

# ---- a program with a library of its own ---------------------------------------------------------

for flags in -Wl,-z,lazy -Wl,-z,now '-no-pie -Wl,-z,now'; do
    # shellcheck disable=SC2086 # several options
    check "a program is linked with $flags" build_user $flags
    same_behaviour "a program with a library runs as before, $flags" --lib libinner -- ./user 400
done
same_behaviour "a library that is opened and closed" --lib libinner --lib ./later.so -- \
    ./user 300 ./later.so 3
equals_callgrind "counts of a library equal callgrind's" "--lib libinner" libinner.so ./user 300
equals_callgrind "counts of a library that was opened three times equal callgrind's" \
    "--lib ./later.so" later.so ./user 300 ./later.so 3

# Processes of the command that load the library, but are not the program.
printf '%s\n' '#!/bin/sh' './user 20' './other 40' './user 30' >several.sh
chmod +x several.sh
cp user other
same_behaviour "another program that loads an instrumented library" --lib libinner --exe ./user -- \
    ./several.sh

# Where no file can be laid over another. A namespace in which there may be no other simulates it;
# where there are none at all, pmodel does so anyway.
cat >nowhere.sh <<'END'
echo 0 >/proc/sys/user/max_mnt_namespaces || exit
exec "$@"
END
without_namespace() {
    if unshare -Ur true 2>/dev/null; then
        unshare -Ur sh ./nowhere.sh "$@"
    else
        "$@"
    fi
}
# Bound at once: two threads that bind lazily may both call the resolver of an indirect function, or one of them.
build_user -Wl,-z,now
rm -f nowhere.pmdb
without_namespace pmodel run -o nowhere.pmdb --no-memory --lib libinner -P N=300 -- ./user '{N}' \
    >nowhere.out 2>nowhere.err
check "without a namespace a program and its library run as before" cmp nowhere.out <(./user 300)
check "that there is no namespace is said" grep -q 'found by LD_LIBRARY_PATH' nowhere.err
pmodel run -q -o usual.pmdb --no-memory --lib libinner -P N=300 -- ./user '{N}' >/dev/null
check "without a namespace the library's counts are the same" cmp \
    <(./block_counts nowhere.pmdb N=300 libinner.so) <(./block_counts usual.pmdb N=300 libinner.so)
gcc -O2 -g -pthread -o old "$sources/user.c" -L. -linner -Wl,--disable-new-dtags,-rpath,"$PWD"
without_namespace pmodel run -o old.pmdb --no-memory --lib libinner -P N=30 -- ./old '{N}' \
    >old.out 2>old.err
check "a library that was found elsewhere is named" \
    grep -q 'libinner.so was not loaded, or not the instrumented copy' old.err

# ---- what linkers leave no room in ------------------------------------------------------------------

for how in -pie -no-pie; do
    check "a program without a note is built ($how)" gcc -O2 -g "$how" -nostartfiles \
        -fcf-protection=none -Wl,--build-id=none -o bare "$sources/bare.c"
    check "it has no note ($how)" test -z "$(readelf -lW bare | grep -w NOTE)"
    same_behaviour "a program without a note, $how" -- ./bare 400
done
mkdir room
for linker in bfd gold; do
    room=(-fuse-ld=$linker -Wl,--build-id=none)
    [ "$linker" = bfd ] || room+=(-Wl,--spare-dynamic-tags=0)
    check "a library without a note is linked ($linker)" \
        gcc -O2 -g -shared -fPIC "${room[@]}" -o room/libinner.so "$sources/inner.c"
    check "a program is linked with it ($linker)" gcc -O2 -g -pthread "${room[@]}" -o room/user \
        "$sources/user.c" -Lroom -linner -Wl,-rpath,"\$ORIGIN"
    same_behaviour "a library without a note, or without room in its dynamic section ($linker)" \
        --lib libinner -- room/user 300
done

# ---- what is asked for ----------------------------------------------------------------------------

expect_error "the C library is refused with a sentence" 2 'libc\.so\.6 cannot be instrumented' \
    pmodel run -q -o none.pmdb --lib libc -- ./user 10
expect_error "an unknown library is refused with those there are" 2 'needs no such library .*libinner' \
    pmodel run -q -o none.pmdb --lib libmissing -- ./user 10
expect_error "a path that is not there" 2 'missing\.so' \
    pmodel run -q -o none.pmdb --lib ./missing.so -- ./user 10
expect_error "the program is not a library of itself" 2 'the program itself' \
    pmodel run -q -o none.pmdb --lib ./user -- ./user 10
check "none of them made a store" test ! -e none.pmdb

# ---- the structure --------------------------------------------------------------------------------

pmodel run -q -o both.pmdb -m r12000 --lib libinner -P N=100,200,300,400,500,600 -- ./user '{N}' >/dev/null
pmodel run -q -o alone.pmdb -P N=100 -- ./user '{N}' >/dev/null
check "models are made of a program with a library" pmodel fit both.pmdb
pmodel report both.pmdb -m r12000 -P N=500 --top 50 >report.txt
check "a report names the library of a routine" grep -q 'sum_pairs.* (libinner.so)' report.txt
check "a report names no library at the program's own code" grep -q 'in_thread/1 :[0-9]*  ' report.txt
pmodel report both.pmdb -m r12000 -P N=500 --format json >report.json
check "JSON has the module of each row" jq -e \
    '[.. | objects | select(has("label") and has("module")) | .module] | unique == ["libinner.so", "user"]' \
    report.json
keys() {
    sqlite3 "$1" "SELECT printf('%x', key) FROM scope ORDER BY 1"
}
keys both.pmdb >both.keys
keys alone.pmdb >alone.keys
check "keys of scopes are unique" test -z "$(uniq -d both.keys)"
check "keys of the program's scopes are those without libraries" \
    test -z "$(comm -13 both.keys alone.keys)"
expect_error "a store without libraries takes none" 2 'alone\.pmdb: .*(librar|modules)' \
    pmodel run -q -o alone.pmdb --lib libinner -P N=200 -- ./user '{N}'

# ---- events ---------------------------------------------------------------------------------------

share=$BUILD/share/pmodel
check "the call tree is built" gcc -O1 -shared -fPIC -I"$BUILD/include" -o call_tree.so \
    "$share/examples/call_tree.c"
CALL_TREE=tree pmodel run -q --handler ./call_tree.so --events routines --lib libinner -- ./user 100 \
    >/dev/null
# in_tree NAME ENTRIES: under its own name, whichever module it is in.
in_tree() {
    check "the tree has $2 entries of $1" \
        awk -v name="$1" -v n="$2" '$1 == n && $3 == name { found = 1 } END { exit !found }' tree
}
in_tree main 1
in_tree square 100
in_tree inner_each 1
in_tree sum_pairs 2

# ---- libraries of the system -----------------------------------------------------------------------

cat >mathematics.c <<'END'
#include <math.h>
#include <stdio.h>
int main(void) {
    double sum = 0;
    for (int i = 0; i < 2000; i++)
        sum += sin(i) + exp(-i * 1e-3) + pow(i, 0.3) + log1p(i) + tgamma(i % 20) + fmod(i, 7) + cbrt(i);
    return printf("%.17g\n", sum) < 0;
}
END
check "a program with mathematics is built" gcc -O1 -fno-builtin -o mathematics mathematics.c -lm
same_behaviour "libm" --lib libm -- ./mathematics
equals_callgrind "counts of libm equal callgrind's" "--lib libm" libm.so.6 ./mathematics

# modules_of OPTION COMMAND...: those with accesses that a run measures, with commas between.
modules_of() {
    rm -f modules.pmdb
    # shellcheck disable=SC2086 # no option is no word
    pmodel run -q $1 -o modules.pmdb -P N=1 -- "${@:2}" >modules.out
    pmodel show --as histograms modules.pmdb | jq -r '[.. | objects | .module? // empty] | unique | join(",")'
}
check "--no-libm leaves it out" \
    test "$(modules_of --no-libm ./mathematics)" = mathematics
check "a program that calls libm is measured with it" test "$(modules_of '' ./mathematics)" = libm.so.6,mathematics
check "and timed" pmodel run -q --time -o modules.pmdb -P N=1 -- ./mathematics
pmodel report -m zen4 --wide modules.pmdb >named
check "variants of a routine have the name of the symbol that leads to them" grep -q ' sin\.variant[0-9]* (libm\.so\.6) ' named
echo 'static volatile int sum; int main(void) { for (int i = 0; i < 9; i++) sum += i; return 0; }' >linked.c
check "a program without mathematics is built" gcc -Wl,--no-as-needed -o linked linked.c -lm
check "a library that is linked, but not called, is not measured" test "$(modules_of '' ./linked)" = linked

cat >statements.sql <<'END'
CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c REAL);
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 800)
INSERT INTO t SELECT i, 'row ' || (i * 7919 % 1000), i / 3.0 FROM n;
CREATE INDEX i ON t (b);
SELECT count(*), sum(c), max(b) FROM t WHERE b LIKE 'row 1%';
SELECT x.a, y.a FROM t x JOIN t y ON x.b = y.b AND x.a < y.a ORDER BY 1, 2 LIMIT 20;
END
same_behaviour "all libraries of sqlite3, and libsqlite3 among them," --all-libs -- sqlite3 :memory: '.read statements.sql'

# Exceptions are thrown, unwound and caught in instrumented libraries.
cat >exceptions.cc <<'END'
#include <iostream>
#include <sstream>
#include <stdexcept>
static int odd(int i) {
    if (i % 7 == 0)
        throw std::runtime_error("seven");
    return i;
}
int main() {
    int sum = 0;
    for (int i = 0; i < 300; i++) {
        std::ostringstream text;
        text << i * 0.5;
        try {
            sum += odd(i) + (int)text.str().size();
        } catch (const std::exception &error) {
            sum -= 1;
        }
    }
    std::cout << sum << std::endl;
}
END
check "a program with exceptions is built" g++ -O2 -o exceptions exceptions.cc
same_behaviour "exceptions through libstdc++ and libgcc_s" --lib 'libstdc++' --lib libgcc_s -- ./exceptions
library=$(ldd ./exceptions | awk '$1 ~ /^libstdc/ { print $3 }')
equals_callgrind "counts of libstdc++ equal callgrind's" '--lib libstdc++' \
    "$(basename "$(realpath "$library")")" ./exceptions

# ---- memory accesses of libraries ------------------------------------------------------------------

# accesses_of TITLE LIBRARY COMMAND...: each reference of the library is recorded as often as it is executed, by the counters.
# Blocks of 2 MiB hold an access as a whole.
truth_tool check_references touches.c || fail "the tool that compares references builds"
accesses_of() {
    local title=$1 name=$2
    shift 2
    rm -f accesses.pmdb
    pmodel run -q -o accesses.pmdb --block 64,2097152 --lib "$name" -P N=1 -- "$@" >accesses.out || {
        fail "$title" "cannot be measured"
        return
    }
    show "$title are as many as are executed" ./check_references accesses.pmdb N=1 2097152
    pmodel show --as histograms accesses.pmdb --block 64 |
        jq --arg name "$name" '[.runs[].histograms[] | select(.module | startswith($name)) |
            .cold_loads + .cold_stores + ([.bins[] | .loads + .stores] | add // 0)] | add' >accesses.number
    check "$title are in the histograms" test "$(cat accesses.number)" -gt 10000
}

cat >formatted.f90 <<'END'
program formatted
  integer :: i
  real(8) :: x, total
  character(80) :: line
  total = 0
  do i = 1, 200
    write (line, '(i6, 2f14.6, a)') i, i / 3d0, sqrt (i * 1d0), ' text'
    read (line, '(6x, f14.6)') x
    total = total + x
  end do
  print '(f20.6)', total
end program
END
check "a program with formatted input and output is built" gfortran -O2 -o formatted formatted.f90
accesses_of "accesses of libm" libm ./mathematics
accesses_of "accesses of libgfortran" libgfortran ./formatted
accesses_of "accesses of libstdc++" libstdc++ ./exceptions
