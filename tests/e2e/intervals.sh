# Intervals: each call of a routine that is named ends one, with a counter of its own; a handler gets
# what counters rose by between two.
. "$TOP/tests/lib.sh"

programs=$TOP/tests/rewrite
gcc -std=gnu11 -O1 -g -fPIC -shared -I"$TOP" -o handler.so "$programs/event_handler.c"

cat >steps.c <<'END'
#include <pthread.h>
#include <stdio.h>
#define OUT_OF_LINE __attribute__((noinline, noclone))
static pthread_barrier_t barrier;
static volatile int sink;
OUT_OF_LINE void synchronise(void) { sink++; }
OUT_OF_LINE static void work(int n) {
    for (int i = 0; i < n; i++)
        sink += i;
}
OUT_OF_LINE static int tail(int n) {
    work(n);
    return pthread_barrier_wait(&barrier);
}
int main(void) {
    pthread_barrier_init(&barrier, NULL, 1);
    for (int step = 1; step <= 4; step++) {
        for (int i = 0; i < step; i++)
            work(10 * step);
        pthread_barrier_wait(&barrier);
        sink++;
        if (step == 3) {
            work(1);
            synchronise();
        }
    }
    tail(5);
    printf("%d\n", sink);
}
END
gcc -g -O2 -o steps steps.c
./steps >plain.out

# counters NAMES...: "real formula" of the whole program.
counters() {
    local options=()
    for name; do options+=(--interval "$name"); done
    pmodel loops --format json "${options[@]}" ./steps |
        jq -r '.totals | "\(.counters) \(.counters_formula)"'
}
read -r plain formula < <(counters)
read -r with formula_with < <(counters pthread_barrier_wait)
calls=$(objdump -d --no-show-raw-insn steps | grep -cE 'call .*<pthread_barrier_wait@plt>')
check "loops: there are calls in the code" test "$calls" -ge 1
check "loops: one counter more for each call that ends an interval" \
    test $((plain + calls)) = "$with"
check "loops: beside the formula, which has none for them" test "$formula" = "$formula_with"
read -r two _ < <(counters pthread_barrier_wait 'synchron*')
more=$(objdump -d --no-show-raw-insn steps | grep -cE 'call .*<synchronise>')
check "loops: patterns, and routines of the program itself" test $((with + more)) = "$two"

check "instrument: with intervals" pmodel run --instrument -q -o copy --events all \
    --interval pthread_barrier_wait --interval synchronise ./steps
mkdir raw
PMODEL_OUT=raw PMODEL_HANDLER=./handler.so EVENTS=events COUNTERS=all EACH_INTERVAL=each ./copy >copy.out
check "behaviour stays" cmp plain.out copy.out
check "every call ends an interval, a tail call too" grep -qx "intervals 6" all
check "entries and exits nest" grep -qx "wrong 0 open 0" events

# The loop of work has one counter at least: its body runs 10, 2·20, 3·30, 0, 1, 4·40, 5 times.  The
# counter on the edge from the loop to itself has one less for each entry.
loop=$(awk '$4 == "work/1" { print $1 }' events)
awk -v expected="9 38 87 0 156 4" '
    $1 == "interval" { rose[$2, $4] = $5; if (!($4 in seen)) { seen[$4] = 1; list[++n] = $4 } }
    END {
        for (i = 1; i <= n; i++) {
            text = ""
            for (k = 0; k < 6; k++) text = text (k ? " " : "") (rose[k, list[i]] + 0)
            if (text == expected) found = 1
            print text
        }
        exit !found
    }' each >found
check "each interval has what was executed in it" test $? = 0
[ -n "$loop" ] || fail "the loop of work is told" "$(cat events)"

sum() { awk -v sum_of="$1" '$1 == sum_of' "$2"; }
awk '$1 == "interval" { n[$4] += $5 } END { for (c in n) print "counter", c, n[c] }' each | sort >summed
awk '$1 == "counter" { print $1, $2, $3 }' all | sort >whole
check "the intervals together are the whole" diff summed whole

check "run: in one go" sh -c 'COUNTERS=$PWD/again pmodel run -q --handler ./handler.so \
    --interval pthread_barrier_wait -- ./steps | cmp - plain.out && grep -qx "intervals 5" again'
expect_error "a routine that is not called" 2 "calls no routine of this name" \
    pmodel run --instrument -o x --interval MPI_Barrier ./steps
expect_error "loops: the same" 2 "calls no routine of this name" \
    pmodel loops --interval MPI_Barrier ./steps
expect_error "run: events go to a handler" 2 "needs --handler" \
    pmodel run -o x.pmdb --events all -- ./steps
