# What a report of times, a range of sizes and a comparison with a clock say of odd input: sizes outside the measured ones, block
# sizes that were not measured, a machine without a TLB, a processor that nothing describes. A sentence each, never a silent number.
. "$TOP/tests/lib.sh"

cp "$TOP/bench/apps/heat/heat.c" .
check "the program builds" gcc -O2 -g $(pmodel flags) -o heat heat.c -lm
check "it is measured" pmodel run -q -o heat.pmdb -m icelake-sp,r12000 -P N=12:28:4 -- ./heat '{N}' 2
check "models" pmodel fit heat.pmdb
sed '/^tlb/,/}/d' "$TOP/machines/r12000.conf" >no_tlb.conf

# says NAME SENTENCE STATUS COMMAND...
says() {
    local name=$1 sentence=$2 expected=$3 status=0
    shift 3
    "$@" >out 2>&1 || status=$?
    tr -s ' \n' ' ' <out >flat
    if [ "$status" = "$expected" ] && grep -q -- "$sentence" flat; then pass "$name"; else fail "$name" "status $status: $(head -c 600 flat)"; fi
}
# each WHAT SENTENCE STATUS MACHINE N: in all three.
each() {
    says "report: $1" "$2" "$3" pmodel report heat.pmdb -m "$4" -P N="$5"
    says "scale: $1" "$2" "$3" pmodel report --as scaling heat.pmdb -m "$4" -P N="$5,32"
    says "validate --time: $1" "$2" "$3" pmodel validate --time -q -s heat.pmdb -m "$4" --repeat 1 --keep kept.pmdb -P N="$5" -- ./heat '{N}' 2
}

for command in "report heat.pmdb" "validate --time -q -s heat.pmdb --repeat 1 --keep kept.pmdb"; do
    # shellcheck disable=SC2086 # several words
    says "${command%% *}: a size below the measured ones" "N=8 is below the smallest measured value, 12" 0 \
        pmodel $command -m icelake-sp -P N=8 $([ "${command%% *}" = report ] || echo -- ./heat '{N}' 2)
done
says "scale: a size below the measured ones" " 8 predicted below 1.5x" 0 pmodel report --as scaling heat.pmdb -m icelake-sp -P N=8,32
each "no size" "N=0 is not a size: it must be above 0" 2 icelake-sp 0
says "report: a size far beyond the measured ones" "is 35.7 times the largest measured value" 0 pmodel report heat.pmdb -m icelake-sp -P N=1000
each "a line that was not measured" "were not measured with the block size of" 2 itanium2 40
each "no TLB" "Machine file no_tlb describes no TLB: page walks are not in the time." 0 ./no_tlb.conf 40
says "validate --time: another processor than that described" "whose description does not name that processor" 0 \
    pmodel validate --time -q -s heat.pmdb -m icelake-sp --repeat 1 --keep kept.pmdb -P N=40 -- ./heat '{N}' 2
check "runs without reuse distances" pmodel run -q --no-memory -o bare.pmdb -P N=12:28:4 -- ./heat '{N}' 2
check "models" pmodel fit bare.pmdb
says "report: times without misses are lower bounds" "predicted >" 0 pmodel report bare.pmdb -m icelake-sp -P N=40
if grep -q '80%:' flat; then fail "and have no interval" "$(head -c 300 flat)"; else pass "and have no interval"; fi
says "scale: without misses" "no reuse distances were measured" 2 pmodel report --as scaling bare.pmdb -m icelake-sp -P N=40,48
