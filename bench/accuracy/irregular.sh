#!/usr/bin/env bash
# How far off are predictions of random accesses?  Each kind of bench/apps/irregular is measured at six
# small sizes; what the models say of four and sixteen times the largest is compared with measured runs.
#
# Part of `make validate`.  Writes $BUILD/validate/irregular.json.  REUSE=1 takes the measurements of the
# last time, where the program is the same; IRREGULAR_PREDICT: other sizes to predict.
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../lib/bench.bash"
in_folder validate/irregular
fit=$(size_value irregular kinds.fit)
predict=${IRREGULAR_PREDICT:-$(size_value irregular kinds.predict)}
cd "$folder"
rm -f ./*.json

# shellcheck disable=SC2046 # the flags are words
gcc $(size_value all flags) $(pmodel flags) -o new "$apps/irregular/irregular.c" -lm
if [ -z "${REUSE-}" ] || ! cmp -s new irregular; then
    rm -f ./*.pmdb
fi
mv new irregular

started=$SECONDS
for kind in $(size_value irregular kinds); do
    pmodel run -q -o "$kind.pmdb" --block 64,4096 -P "N=${fit// /,}" -- ./irregular {N} "$kind" >run.out
    pmodel fit "$kind.pmdb" >fit.out
    pmodel validate -q -s "$kind.pmdb" --keep "$kind.measured.pmdb" --block 64,4096 --format json \
        -P "N=${predict// /,}" -- ./irregular {N} "$kind" >validation.out
    jq --arg kind "$kind" --arg fit "$fit" --arg loop "$(size_value irregular "$kind.loop")" \
        '{kind: $kind, fit: $fit, loop: $loop, sizes: .sizes}' validation.out >"$kind.json"
done
# In the order of sizes.conf.
for kind in $(size_value irregular kinds); do
    cat "$kind.json"
done | jq -s . >"$BUILD/validate/irregular.json"
say "irregular: $((SECONDS - started)) s"
