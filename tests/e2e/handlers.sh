# Event handlers as a user makes them: `pmodel run --handler`, `pmodel run --instrument` and the copy run by
# hand, the shipped example, and what the interface promises.
. "$TOP/tests/lib.sh"

share=$BUILD/share/pmodel/examples
flags=(-std=gnu11 -O1 -g -Wall -Wextra -Werror -fPIC -shared -I"$BUILD/include")
check "the shipped example is built as its first lines say" \
    cc "${flags[@]}" -o call_tree.so "$share/call_tree.c" || exit 1
check "the test's event handler is built" \
    cc "${flags[@]}" -I"$TOP" -o handler.so "$TOP/tests/rewrite/event_handler.c" || exit 1
gcc -g -O0 -o gone "$TOP/tests/rewrite/gone.c"
gcc -g -O2 -march=x86-64-v3 -o heat "$TOP/bench/apps/heat/heat.c" -lm
./gone >plain.out

# The call tree: entries are those that the program counts itself.
CALL_TREE=tree pmodel run -q --handler ./call_tree.so -- ./gone >out 2>errors
check "run --handler: behaviour stays" cmp out plain.out
awk 'NR == FNR { expected[$1] = $2; next }
     { name = $3 == "loop" ? "" : $3; if (name in expected) entries[name] += $1 }
     END { for (name in expected)
               if (name !~ /\// && entries[name] != expected[name]) print name, entries[name] }' \
    plain.out tree >difference
check "the call tree has the program's own counts" sh -c 'cat difference; [ ! -s difference ]'
check "the call tree nests as the program does" \
    awk '{ depth = match(substr($0, 30), /[^ ]/); name[depth] = $3 }
         $3 == "deep" && $1 == 4 && name[depth - 2] name[depth - 4] name[depth - 6] == "looploopouter" &&
             name[depth - 8] == "main" { right = 1 }
         END { exit !right }' tree
check "and says where" grep -q 'many_at_once .*gone.c:[0-9]' tree

# The copy by hand.
check "instrument: a copy with all events" pmodel run --instrument -q -o copy --events all ./heat
sum=$(md5sum heat)
mkdir raw
PMODEL_HANDLER=./handler.so EVENTS=events COUNTERS=counters PMODEL_OUT=raw ./copy 8 >out
./heat 8 >plain.out
check "instrument: the copy prints the same" cmp out plain.out
check "instrument: the program stays as it was" test "$sum" = "$(md5sum heat)"
check "instrument: entries and exits are told" grep -qx 'wrong 0 open 0' events
check "instrument: and accesses" awk '$1 == "accesses" { exit !($2 > 1000) }' counters
gcc -std=gnu11 -O1 -I"$TOP" -o dump "$TOP/tests/e2e/runtime/dump_raw.c" \
    "$BUILD/libpm_measure.a" "$BUILD/libpm_core.a" \
    -lxxhash -lzstd -lm
./dump raw/*.raw | awk '$3 == "counter" { print $3, $4, $5 }' | sort >from_raw
awk '$1 == "counter" { print $1, $2, $3 }' counters | sort >from_handler
check "the handler is told all that counters count" \
    sh -c '[ -s from_raw ] && diff from_raw from_handler'

# Each counter is an edge of the program: both ends start a basic block, which objdump shows as an
# instruction.
objdump -d --no-show-raw-insn heat | awk '/^ +[0-9a-f]+:/ { sub(":", "", $1); print $1 }' >instructions
check "counters are described by addresses of instructions" \
    awk 'NR == FNR { is[$1] = 1; next }
         $1 == "counter" { for (i = 4; i <= 5; i++) if ($i != "0" && !($i in is)) wrong = 1; n++ }
         END { exit wrong || !n }' instructions counters

check "instrument: only loops" pmodel run --instrument -q -o loops --events loops --no-memory ./heat
rm -f events
PMODEL_HANDLER=./handler.so EVENTS=events COUNTERS=counters ./loops 8 >out
check "instrument: then no routine is told" \
    sh -c 'grep -q " loop " events && ! grep -q " routine " events && grep -qx "accesses 0" counters'
check "instrument: no events, no probes" pmodel run --instrument -q -o none ./heat
rm -f events
PMODEL_HANDLER=./handler.so EVENTS=events COUNTERS=counters ./none 8 >out
check "instrument: and no events" sh -c 'cmp out plain.out && ! grep -q loop events'
echo 'main' >leave_out
check "instrument: a routine that is left out has no events" \
    pmodel run --instrument -q -o without --events all --exclude leave_out ./heat
rm -f events
PMODEL_HANDLER=./handler.so EVENTS=events ./without 8 >out
check "instrument: but others have" sh -c '! grep -q " main " events && grep -q " routine " events'

# An event handler of another version, or one that does not want to.
cat >old.c <<'END'
#include <stdint.h>
const uint32_t pmodel_handler[64] = {1};
END
gcc -fPIC -shared -o old.so old.c
PMODEL_HANDLER=./old.so ./copy 8 >out 2>errors
check "an event handler of another version is named" grep -q "old.so was built for another version" errors
check "and the program runs" cmp out plain.out

# Threads: each has its own order; all that is entered is left.
cat >threads.c <<'END'
#include <stdio.h>
__attribute__((noinline)) static double work(int n) {
    double sum = 0;
    for (int i = 1; i <= n; i++)
        sum += 1.0 / i;
    return sum;
}
int main(void) {
    double sum = 0;
#pragma omp parallel for schedule(static, 1) num_threads(4) reduction(+ : sum)
    for (int i = 0; i < 400; i++)
        sum += work(i);
    printf("%.6f\n", sum);
}
END
gcc -g -O1 -fopenmp -o threads threads.c
./threads >plain.out
rm -f events
EVENTS=$TMP/events COUNTERS=$TMP/counters pmodel run -q --handler ./handler.so -- ./threads >out
check "threads: behaviour stays" cmp out plain.out
check "threads: every entry is told, over all threads" \
    awk '$4 == "work" && $2 == "routine" && $3 == 400 { n++ }
         $4 == "work/1" && $3 == 399 { n++ }
         /^wrong 0 open 0$/ { n++ }
         END { exit n != 3 }' events

expect_error "run: a handler that is not there" 2 "handler ./nothing.so: cannot be read" \
    pmodel run --handler ./nothing.so -- ./heat 8
expect_error "run: --events without a handler" 2 "needs --handler" pmodel run --events all -- ./heat 8
expect_error "run: a handler and a store" 2 "exclude each other" \
    pmodel run --handler ./handler.so -o x.pmdb -- ./heat 8
expect_error "instrument: kinds of events are named" 2 'not "blocks"' \
    pmodel run --instrument -o copy2 --events blocks ./heat
expect_error "instrument: the program is not overwritten" 2 "is the program itself" \
    pmodel run --instrument -o ./heat ./heat
expect_error "instrument: no copy named" 2 "-o COPY" pmodel run --instrument ./heat
expect_error "instrument: no program" 2 "nothing" pmodel run --instrument -o copy2 ./nothing
expect_error "instrument: an option that is not there" 2 "frobnicate" \
    pmodel run --instrument --frobnicate -o copy2 ./heat
check "instrument: and nothing is written" test ! -e copy2
