#!/usr/bin/env bash
# Throughput of basic blocks: of a file of blocks (docs/pmodel-loops.md, BLOCKS), as this machine executes them, unrolled
# and in a loop, beside what the shipped file of its core predicts, and llvm-mca 19.  None is in the sources:
#
#     BLOCKS=FILE BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/accuracy/machines/blocks.sh
#
# BLOCKS_RUNS times (3) they are measured; of a block the least figure counts that another run repeats (blocks.jq), and one of
# which none is repeated is left out.  A third, by a hash of the bytes, is apart: nothing is chosen by it, and its figures are
# shown with APART=1 only.  MEASURED=FOLDER takes what an earlier call measured, $BUILD/blocks.
#
# Writes $BUILD/blocks_figures.json, and with APART=1 docs/blocks.md.
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
# shellcheck source=bench/lib/mca.bash
. "$bench/lib/mca.bash"
if [ -z "${BLOCKS-}" ]; then
    say "blocks: skipped, since BLOCKS names no file of basic blocks"
    exit 0
fi
[ -s "$BLOCKS" ] || die "BLOCKS: $BLOCKS is no file"
in_folder blocks
measured=${MEASURED:-$folder}
cpu=$(cpu_file_name)
shipped=$(while read -r pattern name; do
    # shellcheck disable=SC2053 # a pattern
    if [[ $pattern != '#'* && $cpu == $pattern ]]; then echo "$name" && break; fi
done <"$here/schedule_machines.conf")
[ -n "$shipped" ] || die "no shipped machine file is of $cpu (schedule_machines.conf)"

if [ -z "${MEASURED-}" ]; then
    for ((run = 1; run <= ${BLOCKS_RUNS:-3}; run++)); do
        say "blocks are run, the ${run}. time"
        "${alone[@]}" pmodel loops --time --blocks "$BLOCKS" --format json >"$folder/run.$run"
    done
fi
say "predictions for $shipped"
pmodel loops --schedule --blocks "$BLOCKS" -m "$shipped" --format json >"$folder/predicted"

# Which blocks are apart: lines "block TAB 0 or 1".
python3 - "$BLOCKS" >"$folder/apart" <<'EOF'
import hashlib, sys
for line in open(sys.argv[1]):
    block = line.rstrip("\n").split("\t")[0]
    if block and not block.startswith("#"):
        print(block, int(int(hashlib.sha256(block.encode()).hexdigest()[:8], 16) % 3 == 0), sep="\t")
EOF

llvm_cpu=$(awk -v machine="$shipped" '$1 == machine { print $3 }' "$TOP/machines/checks/llvm.machines")
if [ -n "${MEASURED-}" ] && [ -s "$measured/theirs" ]; then
    say "llvm-mca: as it was"
elif command -v llvm-mca-19 >/dev/null && command -v llvm-mc-19 >/dev/null && [ -n "$llvm_cpu" ]; then
    say "llvm-mca for $llvm_cpu"
    jq -r '.blocks[] | select(.form == "unrolled") | "\(.line)\t\(.block)"' "$folder/predicted" >"$folder/blocks"
    mca_cycles "$llvm_cpu" "$folder/blocks" "$folder/mca" >"$folder/theirs"
else
    say "llvm-mca 19 is not here: its figures are left out"
    : >"$folder/theirs"
fi

jq -s . "$measured"/run.* >"$folder/runs"
jq -c -L "$here" --slurpfile runs "$folder/runs" --rawfile apart "$folder/apart" --rawfile theirs "$folder/theirs" \
    'include "blocks"; rows($runs[0]; $apart; $theirs)' "$folder/predicted" >"$BUILD/blocks.json"

# kendall PART FORM BY: of the pairs of which the measurement can tell which is larger.
kendall() {
    jq -r -L "$here" --arg part "$1" --arg form "$2" --arg by "$3" 'include "blocks"; pairs($part; $form; $by)' "$BUILD/blocks.json" | awk '
        { measured[NR] = $1; predicted[NR] = $2 }
        END {
            for (i = 1; i <= NR; i++)
                for (k = 1; k < i; k++) {
                    difference = measured[i] - measured[k]
                    if (difference > 0.02 * measured[k] || -difference > 0.02 * measured[i]) {
                        n++
                        told = predicted[i] - predicted[k]
                        sum += told * difference > 0 ? 1 : told == 0 ? 0 : -1
                    }
                }
            print n ? sum / n : "null"
        }'
}
parts=(development)
[ -z "${APART-}" ] || parts+=(apart)
for part in "${parts[@]}"; do
    for form in all unrolled loop; do
        echo "$part $form ours $(kendall "$part" "$form" ours)"
    done
    echo "$part all theirs $(kendall "$part" all theirs)"
done >"$folder/kendall"
jq -L "$here" --rawfile kendall "$folder/kendall" 'include "blocks"; blocks_figures($kendall)' "$BUILD/blocks.json" \
    >"$BUILD/blocks_figures.json"
jq -r '.[] | "\(.name) \(.value)"' "$BUILD/blocks_figures.json"
if [ -n "${APART-}" ]; then
    jq -r -L "$here" --arg cpu "$(cpu_name) ($cpu)" --arg shipped "$shipped" --slurpfile figures "$BUILD/blocks_figures.json" \
        --slurpfile runs "$folder/runs" 'include "blocks"; page($cpu; $shipped; $figures[0]; $runs[0])' "$BUILD/blocks.json" |
        wrap >"$TOP/docs/blocks.md"
    say "tables in $TOP/docs/blocks.md"
fi
say "figures in $BUILD/blocks_figures.json"
