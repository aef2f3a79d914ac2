#!/usr/bin/env bash
# How far off are predictions of programs that are built anew for each size?  Each kernel of
# bench/apps/kernels/kernels.conf is built and measured at six sizes (`pmodel run --build`); what its
# models say of twice the largest is compared with a build for that size, measured in a store of its
# own: misses of fully associative caches of 512 blocks of 64 bytes and more, and the time on a machine.
#
# Part of `make validate`.  Writes $BUILD/validate/builds.json.  With BUILDS_ONLY=name,… these kernels
# only, with BUILDS_HALF=tuned or apart one half; REUSE=1 takes the measurements of the last time.
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../lib/bench.bash"
in_folder validate/builds
machine=icelake-sp
caches=32K,64K,128K,256K,512K,1M,2M,4M,8M

# validate_build HALF KERNEL FILE SIZES PREDICTED OPTIONS: one kernel with one set of options; -O3_-DHEAP
# are two options.  The result is RESULT.json.
validate_build() {
    local half=$1 kernel=$2 file=$3 sizes=$4 predicted=$5 options=${6//_/ } work command
    work=$folder/$kernel$6
    mkdir -p "$work"
    cd "$work"
    command="gcc $options -g $(pmodel flags) -DN={N} -DKERNEL=$kernel -o kernel $apps/kernels/$file -lm"
    if [ -z "${REUSE-}" ] || [ ! -s models.pmdb ] || [ ! -s measured.pmdb ]; then
        rm -f models.pmdb measured.pmdb
        pmodel run -q -o models.pmdb --block 64,4096 -P "N=$sizes" --build "$command" -- ./kernel >run.out 2>run.err
        sh -c "${command//\{N\}/$predicted}"
        pmodel run -q -o measured.pmdb --block 64,4096 -P "N=$predicted" -- ./kernel >>run.out
    fi
    pmodel fit models.pmdb >fit.out 2>fit.err
    for store in models measured; do
        pmodel query --format json --cache "$caches" -P "N=$predicted" $store.pmdb >$store.json
        pmodel report --format json -m "$machine" -P "N=$predicted" $store.pmdb >$store.times.json
    done
    jq -n --arg kernel "$kernel" --arg options "$options" --arg half "$half" --slurpfile models models.json \
        --slurpfile measured measured.json --slurpfile times models.times.json \
        --slurpfile measured_times measured.times.json -L "$here" 'include "builds"; comparison' >"$work.json"
}

started=$SECONDS
running=0
expected=()
rm -f "$folder"/*.json
while read -r half kernel file sizes predicted options; do
    case ",${BUILDS_ONLY:-$kernel}," in *",$kernel,"*) ;; *) continue ;; esac
    [ "${BUILDS_HALF:-$half}" = "$half" ] || continue
    for option in $options; do
        if [ "$running" -ge "${JOBS:-$(nproc)}" ]; then
            wait -n || true
            running=$((running - 1))
        fi
        validate_build "$half" "$kernel" "$file" "$sizes" "$predicted" "$option" &
        expected+=("$kernel$option")
        running=$((running + 1))
    done
done < <(grep -v '^#' "$apps/kernels/kernels.conf")
wait
for result in "${expected[@]}"; do
    [ -s "$folder/$result.json" ] || die "$result could not be validated ($folder/$result has why)"
done
jq -s . "$folder"/*.json >"$BUILD/validate/builds.json"
say "builds: $((SECONDS - started)) s"
