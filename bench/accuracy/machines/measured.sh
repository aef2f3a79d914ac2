#!/usr/bin/env bash
# Describes the processor that it runs on, for machines/measured/: a whole probe (NAME.conf), and the times of the loops of all
# example applications (NAME.loops.json), so that predictions for this processor can be checked where there is another one.
# NAME is VENDOR-FAMILY-MODEL as cpuid has them. To be run by hand when another processor is met, on a machine with nothing else to do:
#     BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/accuracy/machines/measured.sh [PROBED.conf]
# PROBED.conf: a probe of this machine that is there already.
#
# The applications are built for x86-64-v3. Each is timed by `pmodel run --time` at both of its sizes (bench/apps/sizes.conf: in_l2,
# beyond_llc), and its innermost loops run alone (`pmodel loops --time`), with the hash of their code.
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
new_folder measured
name=$(cpu_file_name)

if [ $# -gt 0 ]; then
    cp "$1" "$folder/$name.conf"
else
    say "probe this machine"
    pmodel probe -o "$folder/$name.conf"
fi

# timed PROGRAM KIND: what its timers measured, as an object.
timed() {
    local program=$1 kind=$2 size arguments
    size=$(size_value "$program" "$kind")
    mapfile -t arguments < <(size_value "$program" "$kind.time" | tr -s ' ' '\n')
    pmodel run -q --no-memory --time -o "$folder/$program.$kind.pmdb" -P "N=$size" -- "$folder/$program" "${arguments[@]}" >/dev/null
    pmodel report "$folder/$program.$kind.pmdb" -m "$folder/$name.conf" -P "N=$size" --format json |
        jq --arg size "$size" --arg arguments "${arguments[*]}" '.predictions[0] | .scopes as $scopes
            | .measured | {size: ($size | tonumber), arguments: $arguments, cpu_seconds, plain_cpu_seconds, outside_seconds, loops: [
                .timers[] | select(.entries > 0) | $scopes[.scope] as $scope | {key, kind: $scope.kind, name: $scope.name,
                    source: "\($scope.file // "?" | split("/") | last):\($scope.line_first)", seconds, entries}]}'
}

flags="$(size_value all flags) $(pmodel flags)"
for program in $(program_names); do
    say "$program: time its loops, and run them alone"
    # shellcheck disable=SC2086 # several words
    build_program "$program" "$folder/$program" $(pmodel flags)
    jq -n --arg program "$program" --slurpfile in_l2 <(timed "$program" in_l2) --slurpfile beyond_llc <(timed "$program" beyond_llc) \
        --slurpfile alone <(pmodel loops --time --format json "$folder/$program") \
        '{program: $program, in_l2: $in_l2[0], beyond_llc: $beyond_llc[0], alone: [$alone[0].loops[] | select(.cycles != null)]}' \
        >"$folder/$program.json"
done
jq -s --arg cpu "$(cpu_name)" --arg name "$name" --arg flags "${flags%% -fplugin*}" --arg compiler "$(gcc --version | head -1)" \
    '{format: "pmodel-measured-loops", version: 1, processor: $cpu, machine: $name, flags: $flags, compiler: $compiler, programs: .}' \
    "$folder"/*.json | jq -c '(.. | numbers) |= (if . == floor then . else (. * 1e12 | round / 1e12) end)' >"$folder/$name.loops"
cp "$folder/$name.conf" "$TOP/machines/measured/$name.conf"
jq -r '. as $all | "{" + ([to_entries[] | select(.key != "programs") | "\"\(.key)\": \(.value | tojson)"] | join(",\n ")) + ",\n \"programs\": [",
    ([.programs[] | tojson] | join(",\n")), "]}"' "$folder/$name.loops" >"$TOP/machines/measured/$name.loops.json"
say "machines/measured/$name.conf and $name.loops.json"
