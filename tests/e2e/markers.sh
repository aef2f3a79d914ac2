# Parts of a run: pmodel_start and pmodel_stop in C, C++ and Fortran, in plain builds and instrumented,
# and routines named on the command line.
. "$TOP/tests/lib.sh"

programs=$TOP/tests/rewrite
include=$BUILD/include
tool=$TMP/instrument_tool
check "the driver is built" build_instrument_tool || exit 1
gcc -std=gnu11 -O1 -g -fPIC -shared -I"$TOP" -o handler.so "$programs/event_handler.c"

# measure TITLE PROGRAM OPTION...: runs the program's copy; entries that were told in ./events.
measure() {
    local title=$1 program=$2
    shift 2
    rm -rf raw events copy
    mkdir raw
    check "$title: instrumented" pmodel run --instrument -q -o copy --events all "$@" "$program" || return 1
    "$program" >plain.out
    PMODEL_OUT=raw PMODEL_HANDLER=./handler.so EVENTS=events ./copy >copy.out 2>copy.err
    check "$title: behaviour stays" sh -c "cmp plain.out copy.out && ! [ -s copy.err ]"
    check "$title: entries and exits nest" grep -qx 'wrong 0 open 0' events
}

# told TITLE NAME=ENTRIES...: 0: never entered.
told() {
    local title=$1 item wrong=
    shift
    for item in "$@"; do
        entries=$(awk -v name="${item%=*}" '{ sub(/\([a-z]*\)/, "", $4) } # of C++
            $4 == name { n += $3 } END { print n + 0 }' events)
        [ "$entries" = "${item#*=}" ] || wrong+=" ${item%=*}: $entries, not ${item#*=};"
    done
    if [ -z "$wrong" ]; then pass "$title"; else fail "$title" "$wrong"; fi
}

# counted TITLE PROGRAM NAME...: the counts of edges say the same of these routines.
counted() {
    local title=$1 program=$2
    shift 2
    "$tool" -l "$program" raw/*.raw 2>tool.err | sort >by_edges
    # shellcheck disable=SC2016 # of awk
    awk -v names="$*" 'BEGIN { split(names, list); for (i in list) wanted[list[i]] = 1 }
        { name = $4; sub("/.*", "", name); sub(/\(.*/, "", name); if (name in wanted) print $1, $2, $3 }' events |
        sort >by_events
    check "$title" sh -c '[ -s by_events ] && [ -z "$(comm -13 by_edges by_events)" ]'
}

gcc -g -O1 -fopenmp -o part "$programs/part.c"
measure "one routine" ./part --start-at work --stop-after work
told "one routine: what it and its callees do, also in recursion" \
    work=6 helper=12 helper/1=12 set_up=0 first=0 finish=0 in_parallel=0
counted "one routine: so are the counts" ./part work helper
check "one routine: nothing else is counted" \
    sh -c '[ "$(awk "\$2 == \"routine\"" by_edges | wc -l)" = 2 ]'

measure "from one to another" ./part --start-at first --stop-after last
# in_parallel is entered 3 times, and what 4 threads execute of it as often by each.
told "from one to another: again and again, over all threads" \
    first=3 last=3 in_parallel=15 helper=306 work=0 set_up=0 finish=0
counted "from one to another: so are the counts" ./part first last in_parallel helper
check "from one to another: no routine's counts are in doubt" sh -c '! grep inexact tool.err'

measure "from a routine on" ./part --start-at last
told "from a routine on: to the end" first=2 last=3 helper=207 work=0 finish=1
counted "from a routine on: so are the counts" ./part first last finish helper

measure "up to a routine" ./part --stop-after set_up
told "up to a routine: from the beginning" set_up=1 helper=3 work=0 in_parallel=0
counted "up to a routine: so are the counts" ./part set_up helper

measure "patterns" ./part --start-at 'fini*,set_u?' --stop-after 'fini*,set_u?'
told "patterns: all that they name" set_up=1 finish=1 helper=5 work=0

# In one go, into a store: the same counts.
. "$TOP/tests/truth/tools.sh"
truth_tool block_counts || fail "the tool that reads stores builds"
check "run: with --start-at and --stop-after" \
    pmodel run -q -o part.pmdb --no-memory -P N=1 --start-at work --stop-after work -- ./part
./block_counts part.pmdb N=1 | awk '$1 == "block" && $4 > 0' >blocks
check "run: a part is another run than the whole" sh -c \
    'pmodel run -o part.pmdb -P N=1 --no-memory -- ./part 2>&1 | grep -q "1 measured"'
pmodel run -q -o whole.pmdb --no-memory -P N=1 -- ./part >out
./block_counts whole.pmdb N=1 | awk '$1 == "block" && $4 > 0' >all_blocks
check "run: only what is between is in the store" \
    test "$(wc -l <blocks)" -gt 2 -a "$(wc -l <blocks)" -lt $(($(wc -l <all_blocks) / 2))
expect_error "a routine that is not there" 2 "no routine is called so" \
    pmodel run -o x.pmdb --start-at nowhere -- ./part
expect_error "instrument: a routine that is not there" 2 "--stop-after nowhere: no routine" \
    pmodel run --instrument -o x --stop-after nowhere ./part
echo work >leave_out
expect_error "a routine that is left out cannot switch" 2 "cannot all be told" \
    pmodel run --instrument -o x --start-at work --exclude leave_out ./part
check "and nothing is written" test ! -e x
expect_error "times are of whole runs" 2 "time and --start-at exclude each other" \
    pmodel run -o x.pmdb --time --start-at work -- ./part

# Markers in the source.
for kind in "gcc -pie -fPIE" "gcc -no-pie" "g++ -x c++" "gcc -std=c99 -static-libgcc"; do
    # shellcheck disable=SC2086 # options
    check "$kind: a plain build needs no library" \
        $kind -g -O1 -Wall -Werror -Wno-unknown-pragmas -DMARKERS -I"$include" -o marked "$programs/part.c" || continue
    check "$kind: and prints the same" sh -c './part >a; ./marked >b; [ -s b ]'
    measure "$kind" ./marked
    told "$kind: what is not between stop and start" work=6 helper=14 set_up=0 first=0 finish=1
    counted "$kind: so are the counts" ./marked work helper finish
done
check "Fortran: a plain build needs no library" \
    gfortran -g -O1 -fno-inline -Wall -o marked "$include/pmodel.f90" "$programs/part_marked.f90"
measure "Fortran" ./marked
told "Fortran: what is not between stop and start" work=2 work/1=2
counted "Fortran: so are the counts" ./marked work
