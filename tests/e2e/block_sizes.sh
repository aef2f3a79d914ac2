# Which block sizes `pmodel run` measures, when it measures a run again for them, and what is said of
# those that were not measured.
. "$TOP/tests/lib.sh"

cp "$TOP/bench/apps/heat/heat.c" .
gcc -O2 -g $(pmodel flags) -o heat heat.c -lm

run() { pmodel run -o heat.pmdb "$@" -P N=8,10 -- ./heat '{N}' 1 2>run.err >/dev/null || cat run.err; }

# sizes: of each run, those marked m of which distances below 16 are one bin.
sizes() {
    sqlite3 heat.pmdb 'select parameters, block_sizes from run order by parameters' | tr '|' ' ' |
        while read -r at list; do
            for size in ${list//,/ }; do
                merged=$(sqlite3 heat.pmdb "select merged from run where parameters = '$at'")
                [[ ,$merged, = *,$size,* ]] && printf '%sm ' "$size" || printf '%s ' "$size"
            done
            echo
        done | sort -u
}

# is NAME VALUE EXPECTED
is() {
    if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "\"$2\" instead of \"$3\""; fi
}
measured() { sed -n 's/^pmodel run: \([0-9]*\) measured.*/\1/p' run.err; }

run
is "by default" "$(sizes)" '64 4096m '
check "which is said" grep -q '^pmodel run: blocks of 64, 4096 bytes' run.err
run
is "what is there is not measured again" "$(measured)" 0
run -m r12000
is "sizes of a machine that are missing are measured" "$(measured)" 2
is "and those that were there are kept as they were" "$(sizes)" '32 64 128 4096m 32768m '
check "which is said, too" grep -q 'blocks of 32, 64, 128, 4096, 32768 bytes: .* r12000$' run.err
run
is "fewer are there already" "$(measured)" 0
run -m itanium2
is "another machine adds its own" "$(sizes)" '32 64 128 4096m 16384m 32768m '
run -m r12000,itanium2
is "and both are there" "$(measured)" 0
run -m icelake-sp
is "few ways need short distances apart" "$(measured)" 2
is "so that they become it" "$(sizes)" '32 64 128 4096 16384m 32768m '
run -m icelake-sp -m r12000
is "and stay it" "$(measured)" 0
run --again --block 64 -m icelake-sp
is "--again measures what is asked for" "$(sizes)" '64 4096 '
run --again --bin-width 0
is "unmerged bins are apart" "$(sizes)" '64 4096 '
run --again --sample 1/4
is "so are those of a sample" "$(sizes)" '64 4096 '
run --again --block 32,64,4096
is "of the sizes of --block larger ones are merged" "$(sizes)" '32 64m 4096m '

# What the runtime is told.
cat >print.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    const char *apart = getenv("PMODEL_APART");
    return puts(apart ? apart : "none") < 0;
}
C
gcc -O2 -o print print.c
told() { pmodel run -q --again -o print.pmdb "$@" -- ./print 2>/dev/null; }
is "the runtime is told what stays apart" "$(told -m icelake-sp)" 4096
is "the smallest size does anyway" "$(told -m r12000)" 128
is "of a fully associative level nothing must" "$(told)" none
cat >few.conf <<'C'
title = "A TLB of eight entries"
sources = "none"
clock_mhz = 1000
issue_width = 1
vector_width = 64
out_of_order = false
fma = false
unit a { does = "all" }
cost { of = {int_add} latency = 1 units = {a} }
cache L1 { size = 32KiB  line = 64  ways = 0  latency = 1  miss_penalty = 10  exposed = 1 }
tlb TLB { entries = 8  page = 8KiB  ways = 0  miss_penalty = 10  exposed = 1 }
C
is "but where it has few blocks" "$(told -m "$PWD/few.conf")" 8192

# What is said of sizes that were not measured, and that what is said is right.
rm heat.pmdb
pmodel run -q -o heat.pmdb --carry --env X=1 -P N=8,10,12,14,16 -P 'S=N-7' -- ./heat '{N}' '{S}' >/dev/null 2>&1
pmodel fit heat.pmdb >/dev/null 2>&1
command=$(pmodel report -m r12000 heat.pmdb 2>&1 | sed -n 's/.*: `\(pmodel run [^`]*\)` measures them.*/\1/p')
is "the command that measures them" "$command" \
    "pmodel run -o heat.pmdb -m r12000 -P N=8,10,12,14,16 -P S=N-7 --carry --env X=1 -- ./heat {N} {S}"
again=$(pmodel report -m r12000 -P N=20 -P S=13 heat.pmdb 2>&1 | grep -c 'and `pmodel fit heat.pmdb` measure them')
is "a size that is predicted needs new models, too" "$again" 1
pmodel report heat.pmdb >left_out.txt 2>/dev/null
check "a report of all machines names those that it leaves out" grep -q 'Left out.*itanium2, power3, r12000' left_out.txt
check "and shows the others" grep -q 'Xeon' left_out.txt
bash -c "$command" >/dev/null 2>&1
check "then the machine can be reported" pmodel report -m r12000 heat.pmdb
check "and what carries its reuses" pmodel report --as carried -m r12000 heat.pmdb
expect_error "models of before know nothing of them" 2 'call .pmodel fit heat.pmdb. again' \
    pmodel report -m r12000 -P N=20 -P S=13 heat.pmdb
pmodel fit heat.pmdb >/dev/null 2>&1
check "until they are made again" pmodel report -m r12000 -P N=20 -P S=13 heat.pmdb

check "a machine's file is named as it was" sh -c 'pmodel report -m "$PWD/few.conf" heat.pmdb 2>&1 |
    grep -qF " -m $PWD/few.conf "'

# Interpolated figures say so in every form.
rm heat.pmdb
run
pmodel report -m r12000 -P N=10 --interpolate heat.pmdb >report.txt 2>&1
check "a table marks its columns" grep -q '~TIME.*~L1/it.*~L2/it.*~TLB/it' report.txt
check "and the time of the whole" grep -q 'predicted ~' report.txt
pmodel report -m r12000,icelake-sp -P N=10 --interpolate --format json heat.pmdb >report.json 2>/dev/null
is "JSON has it by machine and row" "$(jq -c '[.predictions[] | [.interpolated, ([.rows[] | select(.counted) | .interpolated] | unique)]]' report.json)" \
    '[[true,["L1 L2 TLB"]],[false,[null]]]'
is "and by level" "$(jq -c '[.predictions[0].machine.levels[].interpolated_from_block_bytes]' report.json)" '[64,64,4096]'
is "CSV by row" "$(pmodel report -m r12000 -P N=10 --interpolate --format csv heat.pmdb 2>/dev/null | tr -d "\r" | tail -n +2 | awk -F, '{ print $NF }' | sort -u)" \
    'L1 L2 TLB'
is "what was measured is not marked" "$(pmodel report -m icelake-sp -P N=10 --interpolate heat.pmdb 2>/dev/null | grep -c '~TIME')" 0
