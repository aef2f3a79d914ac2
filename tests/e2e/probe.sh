# `pmodel probe` where it is stopped or has nowhere to write; tests/real/probe.sh has a whole one.
. "$TOP/tests/lib.sh"

if [ "$(uname -m)" != x86_64 ]; then
    check "another processor is refused with a sentence" sh -c '! pmodel probe -o here.conf 2>err; grep -q x86-64 err'
    exit 0
fi
# Stopped: what there is, and the exit status of success.  How soon throughputs are there hangs on what else runs.
ended_well=yes
for seconds in 3 9 27 81; do
    pmodel probe --infer -o stopped.conf 2>/dev/null &
    probe=$!
    sleep "$seconds"
    kill -INT "$probe"
    wait "$probe" || ended_well=no
    grep -q "^cost { of = {int_add}" stopped.conf && break
done
check "a probe that is stopped ends well" test "$ended_well" = yes
check "it keeps what is done, and says so" grep -q "It was stopped" stopped.conf
check "throughputs are among it" grep -q "^cost { of = {int_add}" stopped.conf
check "what it keeps has no mistakes" sh -c 'pmodel machines --check ./stopped.conf 2>err || grep -q "has no .cache. section" err'

check "an unknown argument is refused" sh -c 'pmodel probe here 2>err; [ $? -eq 2 ] && grep -q "unexpected argument" err'
check "a file that cannot be written is refused" sh -c 'timeout 5 pmodel probe -o /nowhere/here.conf 2>err; [ $? -eq 2 ] || [ $? -eq 1 ]'
