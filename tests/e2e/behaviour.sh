# Instrumented programs behave as plain ones where that is hard: signals, threads, processes, ways out
# of routines, libraries that come and go, jumps that nobody foresaw; and their counts are right.
# time limit: 900 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/rewrite/rewrite.bash"

for flags in "-O2" "-O0 -no-pie"; do # (with -O3 in tests/real/hard.sh)
    hard_programs "$flags"
done
join_asides

# Routines that are left by longjmp, exceptions, exit, or the end of a thread.
for flags in "-O2" "-O0 -no-pie"; do
    ways_out "$flags"
done

# count FILE ROUTINE: how often its first block was executed.
count() {
    awk -v address="$(nm leaves | awk -v name="$2" '$3 == name { print $1 }' | sed 's/^0*//')" \
        '$1 == address { print $2 }' "$1"
}
# measure WAY: block counts of all its processes together, in blocks.txt.
measure() {
    rm -rf raw && mkdir raw
    PMODEL_OUT=$TMP/raw ./instrumented "$1"
    "$tool" -b leaves raw/*.raw >blocks.txt 2>blocks.err
}
for flags in "-O2" "-O0 -no-pie"; do
    build "$flags" leaves && "$tool" -r "$runtime" leaves instrumented
    measure fork # 40 entries and 82 calls without the fork; 5 and 6 were there before it
    check "parent and child of a fork count what each does ($flags)" test \
        "$(count blocks.txt descend) $(count blocks.txt split) $(count blocks.txt straight)" = \
        "$((2 * 40 - 5)) $((2 * 82 - 6)) 2"
    check "and obey conservation ($flags)" sh -c '! grep -q inexact blocks.err'
    measure markers
    check "what is open at markers is neither lost nor counted twice ($flags)" test \
        "$(count blocks.txt descend) $(count blocks.txt stop_there) $(count blocks.txt start_there) $(
            count blocks.txt straight)" = "13 2 27 2"
    check "and obeys conservation ($flags)" sh -c '! grep -q inexact blocks.err'
done
build "-O0 -no-pie" leaves && "$tool" -r "$runtime" leaves instrumented
rm -rf raw && mkdir raw
PMODEL_OUT=$TMP/raw ./instrumented other_threads
"$tool" -b leaves raw/*.raw 2>&1 >/dev/null | grep >/dev/null '4 thread(s) still ran'
check "threads of which it is not known what they were in are told of" test $? = 0

# ---- jumps that nobody foresaw ----
build "-O2" jumps && "$tool" -r "$runtime" jumps instrumented
rm -rf raw && mkdir raw
PMODEL_OUT=$TMP/raw ./instrumented >/dev/null
"$tool" -b jumps raw/*.raw >blocks.txt 2>blocks.err
check "jumps into straight code are caught and counted" grep -qx 'missed jumps: 22' blocks.err
"$PMODEL" run -o jumps.pmdb -P N=1 -- ./jumps >run.out 2>&1
check "run says how many" grep -q '22 jumps to places that were not foreseen were caught' run.out

build "-O2" interpreter && same_counts "an interpreter that is entered at offsets from a table" "$TMP/interpreter" foreseen
check "and none of its entries is a surprise" grep -qx 'missed jumps: 0' blocks.err

# ---- faults that the plain program does not have, and its own ----
build "-O1" faults && pmodel run --instrument -q -o faults-i faults
# fault WAY [handled]: how the copy ends, what it says, and whether pmodel says something.
fault() {
    { ./"$program" "$@"; echo "status $?"; } >"$program.out" 2>"$program.err"
    grep '^pmodel:' "$program.err"
    rm -f core*
}
for way in straight covered copy; do
    for handled in "" handled; do
        # shellcheck disable=SC2086 # none or one
        said=$(PMODEL_OUT=$TMP/raw program=faults-i fault $way $handled)
        case $way in
        copy) expected="if it copies routines of its own, leave these as they are" ;;
        *) expected="in the middle of straight, whose code was moved, .* --exclude FILE, with a line !straight$" ;;
        esac
        check "a fault of moved code names the routine to leave out ($way $handled)" grep -q "$expected" <<<"$said"
        [ -z "$handled" ] || check "and the program's handler has it ($way)" grep -q '^handled: ' faults-i.out
    done
done
printf '!straight\n!copied\n' >as_they_are
pmodel run --instrument -q --exclude as_they_are -o faults-x faults
for way in straight covered copy; do
    program=faults fault $way
    PMODEL_OUT=$TMP/raw program=faults-x fault $way
    check "what is left out as it says runs as plainly ($way)" cmp faults.out faults-x.out
done
for way in null illegal trap stack; do
    for handled in "" handled; do
        # shellcheck disable=SC2086 # none or one
        program=faults fault $way $handled
        # shellcheck disable=SC2086
        said=$(PMODEL_OUT=$TMP/raw program=faults-i fault $way $handled)
        check "a fault of the program's own is its own ($way $handled)" cmp faults.out faults-i.out
        check "and nothing is said of it ($way $handled)" test -z "$said"
    done
done

build "-O2" many_labels && same_counts "an interpreter of many operations" "$TMP/many_labels"
edges=$(pmodel loops --dump cfg --routine interpret many_labels | awk '$5 == "blocks" { print $8 }')
check "and edges are not as many as operations squared ($edges)" test "$edges" -lt 10000

# ---- threads that come by pthread_create unseen ----
build "-O2" foreign_threads && same_counts "threads of libraries that ask for the C library's pthread_create" "$TMP/foreign_threads"

# ---- processes and their files ----
build "-O2" hard_processes && "$tool" -r "$runtime" hard_processes instrumented
for way in "forks 8" "forks_inside 7" "vforks 4" "execs 14" "daemon 3" "ends 6"; do
    read -r name n_files <<<"$way"
    rm -rf raw && mkdir raw
    PMODEL_OUT=$TMP/raw timeout 60 ./instrumented "$name" >/dev/null 2>&1
    check "$name: each process writes what it measured" \
        test "$(ls raw | sort -u | wc -l)" = "$n_files"
    check "$name: and all of it can be read" "$tool" -b hard_processes raw/*.raw
done

# A process that is killed at any moment leaves a whole file or none.
cat >ending.c <<'EOF_ENDING'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    static long table[100000];
    for (long i = 0; i < atol(argv[argc - 1]); i++)
        table[i % 100000] += i;
    return table[7] < 0;
}
EOF_ENDING
gcc -O1 -g -o ending ending.c && "$tool" -m -r "$runtime" ending instrumented
rm -rf raw && mkdir raw
n_killed=0
for delay in 0.002 0.004 0.006 0.008 0.010 0.012 0.014 0.016 0.018 0.020 0.024 0.028 0.032 0.040; do
    for times in 1000 100000 10000000; do
        PMODEL_OUT=$TMP/raw PMODEL_BLOCK=8 ./instrumented $times &
        process=$!
        sleep $delay
        kill -KILL $process 2>/dev/null
        wait $process 2>/dev/null || n_killed=$((n_killed + 1))
    done
done
check "some were killed" test $n_killed -gt 3
damaged=0
for file in raw/*.raw; do
    [ -e "$file" ] || continue
    "$tool" -b ending "$file" >/dev/null 2>&1 || damaged=$((damaged + 1))
done
check "a process that is killed leaves a whole file or none" test $damaged = 0

# ---- libraries that come and go ----
cat >part.c <<'EOF_PART'
static __thread long own = 3; /* global dynamic: by a call of __tls_get_addr */
static __thread long near __attribute__((tls_model("local-dynamic"))) = 5;
__attribute__((constructor)) static void begin(void) { own += WHICH; }
long part(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum += i * WHICH;
        own += sum & 1;
        near += i & 3;
    }
    return sum + own + near;
}
EOF_PART
cat >loads.c <<'EOF_LOADS'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static __thread long mine __attribute__((tls_model("initial-exec"))) = 7;
static __thread long here __attribute__((tls_model("local-exec"))) = 9;
static long (*part)(long);
static void *in_thread(void *n) { return (void *)(part((long)n) + mine++ + here++); }
int main(void) {
    for (int round = 0; round < 6; round++) {
        void *library = dlopen(round % 2 ? "./libtwo.so" : "./libone.so", RTLD_NOW);
        if (!library) {
            puts(dlerror());
            return 1;
        }
        part = (long (*)(long))dlsym(library, "part");
        pthread_t thread;
        void *result;
        pthread_create(&thread, NULL, in_thread, (void *)(10L + round));
        pthread_join(thread, &result);
        printf("%ld %ld\n", part(100 + round), (long)result);
        dlclose(library);
    }
    return 0;
}
EOF_LOADS
mkdir -p plain new
for which in one two; do
    gcc -O1 -g -shared -fPIC -ftls-model=global-dynamic -DWHICH=$([ $which = one ] && echo 1 || echo 2) \
        -o plain/lib$which.so part.c
    "$tool" -r "$runtime" -c "$([ $which = one ] && echo 1000 || echo 2000)" plain/lib$which.so \
        new/lib$which.so
done
gcc -O2 -g -o loads loads.c && "$tool" -r "$runtime" loads loads.i
(cd plain && ../loads) >plain.out
for where in plain new; do
    for program in loads loads.i; do
        [ $program.$where = loads.plain ] && continue
        rm -rf raw && mkdir raw
        (cd $where && PMODEL_OUT=$TMP/raw timeout 60 ../$program) >instrumented.out 2>&1
        check "$program loads and unloads libraries from $where" cmp plain.out instrumented.out
    done
done

# ---- without wrgsbase, under another machine ----
for name in hard_processes leaves; do
    [ -e $name ] || build "-O2" $name
    "$tool" -m -r "$runtime" $name instrumented
    way=$([ $name = leaves ] && echo longjmp || echo forks_inside)
    ./$name $way >plain.out 2>/dev/null
    rm -rf raw && mkdir raw
    PMODEL_OUT=$TMP/raw PMODEL_BLOCK=64 valgrind --tool=none -q ./instrumented $way \
        >instrumented.out 2>valgrind.err
    check "$name runs under valgrind, which has no wrgsbase" cmp plain.out instrumented.out
    check "and is measured there" "$tool" -b $name raw/*.raw
done
