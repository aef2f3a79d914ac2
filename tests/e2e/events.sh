# Events of loops and routines: every entry and every exit is told, nested, whatever way control
# takes; as often as the program itself, callgrind and the counted edges say.
. "$TOP/tests/lib.sh"
. "$TOP/tests/rewrite/rewrite.bash"

check "the event handler is built" gcc -std=gnu11 -O1 -g -Wall -Wextra -Werror -fPIC -shared \
    -I"$TOP" -o handler.so "$programs/event_handler.c" || exit 1

# record TITLE OPTION PROGRAM ARGUMENT...: runs the program's copy with all events (and with OPTION -m
# memory records): events in ./events, raw files in raw/; same output and status as the plain one's.
record() {
    local title=$1 option=$2 program=$3 expected=0 actual=0
    shift 3
    rm -rf raw events instrumented
    mkdir raw
    # shellcheck disable=SC2086 # an option or none
    "$tool" $option -e -r "$runtime" "$program" ./instrumented 2>tool.err || {
        fail "$title: instrumented" "$(cat tool.err)"
        return 1
    }
    timeout 60 "$program" "$@" >plain.out 2>plain.err </dev/null || expected=$?
    PMODEL_OUT=$TMP/raw PMODEL_HANDLER=./handler.so EVENTS=events EVENTS_VERBOSE=1 \
        timeout 120 ./instrumented "$@" >instrumented.out 2>instrumented.err </dev/null || actual=$?
    check "$title: behaviour stays" \
        sh -c "[ $actual -eq $expected ] && cmp plain.out instrumented.out"
    check "$title: entries and exits nest, and all that is entered is left" \
        sh -c "tail -n 1 events | grep -qx 'wrong 0 open 0' || { head instrumented.err; exit 1; }"
}

# equal_edges TITLE PROGRAM: entries of every loop and routine against the counts of edges.
equal_edges() {
    "$tool" -l "$2" raw/*.raw 2>tool.err | sort >by_edges
    grep -v '^wrong' events | cut -d' ' -f1-3 | sort >by_events
    check "$1: entries are those of the counted edges" \
        sh -c "[ -s by_events ] && diff by_edges by_events"
}

# Calls of each routine of PROGRAM, by callgrind: "NAME calls".
callgrind_calls() {
    awk -v program="$1" '
        function named(text, of) {
            match(text, /\([0-9]+\)/)
            number = substr(text, RSTART, RLENGTH)
            rest = substr(text, RSTART + RLENGTH + 1)
            sub(/\047[0-9]+$/, "", rest) # within a cycle of calls
            if (rest != "") of[number] = rest
            return of[number]
        }
        /^ob=/ { object = named($0, objects); callee_object = object; next }
        /^cob=/ { callee_object = named($0, objects); next }
        /^fn=/ { named($0, names); callee_object = object; next }
        /^cfn=/ { callee = named($0, names); next }
        /^calls=/ {
            if (callee_object == program) calls[callee] += substr($1, 7)
            callee_object = object
        }
        END { for (name in calls) print name, calls[name] }' "$2"
}

# equal_calls TITLE PROGRAM ARGUMENT...: entries of routines against callgrind, by name. _start and the
# like are entered by a jump of the dynamic linker or by nobody.
equal_calls() {
    local title=$1 program=$2
    shift 2
    valgrind --tool=callgrind --callgrind-out-file=callgrind.out --compress-strings=yes \
        --separate-threads=no "$program" "$@" >/dev/null 2>valgrind.err </dev/null
    callgrind_calls "$TMP/${program#./}" callgrind.out >by_callgrind
    awk 'NR == FNR { calls[$1] = $2; next }
         $2 == "routine" && ($4 in calls) { entries[$4] += $3; n++ }
         END {
             for (name in entries)
                 if (entries[name] != calls[name]) {
                     print name, entries[name] " entries", calls[name] " calls"
                     wrong = 1
                 }
             if (n < 3) print "only " n " routines have the same name"
             exit wrong || n < 3
         }' by_callgrind events >difference
    check "$title: routines are entered as often as callgrind sees them called" \
        sh -c "cat difference; [ ! -s difference ]"
}

for name in calls switches accesses gone; do
    for option in "" -m; do
        gcc -g -O2 -march=x86-64-v3 -fopenmp -o "$name" "$programs/$name.c"
        record "$name $option" "$option" "./$name" && equal_edges "$name $option" "./$name"
    done
done
gcc -g -O2 -o signals "$programs/signals.c"
record "handlers of signals, also left by siglongjmp" "" ./signals
g++ -g -O2 -pthread -o exceptions "$programs/exceptions.cc"
record "exceptions" "" ./exceptions && equal_edges "exceptions" ./exceptions
gcc -O3 -g -march=x86-64-v3 -o heat "$TOP/bench/apps/heat/heat.c" -lm
record "heat" -m ./heat 10 && equal_edges "heat" ./heat && equal_calls "heat" ./heat 10
gfortran -O2 -g -march=x86-64-v3 -o adi "$TOP/bench/apps/adi/adi.f90"
record "adi" "" ./adi 8 && equal_edges "adi" ./adi

# What the program counts itself, where the compiler leaves its loops and routines alone.
gcc -g -O0 -o gone "$programs/gone.c"
if record "gone, without optimisation" "" ./gone; then
    equal_calls "gone" ./gone
    awk 'NR == FNR { expected[$1] = $2; next } ($4 in expected) { entries[$4] += $3 }
         END { for (name in expected)
                   if (entries[name] != expected[name]) print name, expected[name], entries[name] }' \
        plain.out events >difference
    check "gone: entries are those that the program counts itself" \
        sh -c "cat difference; [ ! -s difference ] && [ -s plain.out ]"
fi

# Programs that nobody here develops.
seq 1 20000 >numbers
record "gzip" "" /bin/gzip -c numbers && equal_edges "gzip" /bin/gzip
# shellcheck disable=SC2016 # a program of perl's
record "perl" "" /usr/bin/perl -e '$s += length(sprintf "%d", $_) for 1..5000; print $s' &&
    equal_edges "perl" /usr/bin/perl
