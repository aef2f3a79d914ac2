# Three probes of one machine: do they agree, and with what is known?

# Figures that are one number with an interval are compared; rows of instructions by their latency.
def measured: [.figures[] | select(.number != null and (.name | test("^(clock_mhz|window|mispredict_penalty|L[0-9]|TLB[0-9]|memory)|latency$"))
    and (.name | test("line|ways|exposed|shared|indexed|page$|not_verified") | not))];

# "4.1 (3.9 to 4.4)": what the interval is; a figure without one is its own.
def low: ((.value | capture("\\((?<n>[-0-9.e+]+) to ") | .n | tonumber) // .number);
def high: ((.value | capture(" to (?<n>[-0-9.e+]+)\\)") | .n | tonumber) // .number);

def worst_of($name; $files):
    [$files[] | .figures[] | select(.name == $name)] as $found
    | if ($found | length) < 3 then {name: $name, estimates: [$found[].number], gap: null}
      else
        ([$found[] | low] | max) as $highest_low | ([$found[] | high] | min) as $lowest_high
        | ([$found[].number] | sort | .[1]) as $middle
        | {name: $name, estimates: [$found[].number], spread: (([$found[].number] | max - min) / (if $middle == 0 then 1 else $middle end)),
           gap: ([0, ($highest_low - $lowest_high) / (if $middle == 0 then 1 else $middle end)] | max)}
      end;

def said($pattern): [.head[] | capture($pattern).n | tonumber] | .[0];

# "LEVEL KIND KIB GBS": bandwidths of one core, with the working set that lies in the level: far from the level before and its own
# end; in memory, four times the last cache, and a quarter of a GiB at least.
def bandwidths:
    def figure($name): [.figures[] | select(.name == $name)] | .[0];
    . as $machine | figure("clock_mhz").number as $mhz
    | [range(1; 6) | select(. as $i | $machine | figure("L\($i).size") != null)] as $levels
    | [$levels[] as $i
        | (if $i == 1 then 0 else ($machine | figure("L\($i - 1).size").number) end) as $before
        | ($machine | figure("L\($i).size").number) as $own
        | (if $i == 1 then $own / 2 else [0.6 * $own, ([3 * $before, ($before * $own | sqrt)] | max)] | min end / 1024 | floor) as $kib
        | ("read", "write", "copy") as $kind
        | ($machine | figure("L\($i).\($kind)_bandwidth").number) as $bytes
        | select($bytes != null) | "L\($i) \($kind) \($kib) \($bytes * $mhz / 1000)"]
      + [([4 * ($machine | figure("L\($levels | last).size") | high), 268435456] | max / 1024 | floor) as $kib
        | ("read", "write", "copy") as $kind
        | ($machine | figure("memory.\(if $kind == "read" then "" else $kind + "_" end)bandwidth_gbs").number) as $gbs
        | select($gbs != null) | "memory \($kind) \($kib) \($gbs)"];

def off: if .likwid == null or .likwid == 0 then null else (.probed / .likwid - 1) end;

# Of each level and kind, the middle ones of the probes and of likwid-bench beside each.
def middle: sort | .[length / 2 | floor];
def by_likwid: [flatten | group_by([.level, .kind])[] | {level: .[0].level, kind: .[0].kind, kib: (map(.kib) | middle),
    probed: (map(.probed) | middle), likwid: (map(.likwid | select(. != null)) | middle)} | . + {off: off}];

def summary($name; $l1; $l2; $likwid):
    . as $files
    | ($files[0] | measured | map(.name)) as $names
    | [$names[] | worst_of(.; $files)] as $agreement
    | ($likwid | by_likwid) as $bandwidths
    | {name: $name, bandwidths: $bandwidths, seconds: [$files[].seconds],
       agreement: $agreement,
       l1: {known: ($l1 | tonumber), found: [$files[] | .figures[] | select(.name == "L1.size") | .number]},
       l2: {known: ($l2 | tonumber), found: [$files[] | .figures[] | select(.name == "L2.size") | .number]},
       median: [$files[] | said("half are predicted within (?<n>[0-9.]+)%") | values / 100],
       p90: [$files[] | said("nine of ten within (?<n>[0-9.]+)%") | values / 100]};

def right: .known as $known | if $known == 0 then null else (.found | length == 3 and all(. == $known)) end;

def at_most($name; $value; $target): {name: $name, value: $value, target: $target, better: "lower",
    holds: (if $value == null then null else $value <= $target end)};

def figures:
    [at_most("probe_repeat_worst"; [.agreement[] | .gap | select(. != null)] | max; 0.10),
     (.agreement | map(select(.gap != null)) | if length == 0 then null else (map(select(.gap == 0)) | length) / length end
      | {name: "probe_repeat_inside", value: ., target: 0.80, better: "higher", holds: (if . == null then null else . >= 0.80 end)}),
     (([(.l1 | right), (.l2 | right)]) as $right
      | {name: "probe_cache_sizes_right", value: (if any($right[]; . == null) then null elif all($right[]; .) then 1 else 0 end), target: 1,
         better: "higher", holds: (if any($right[]; . == null) then null else all($right[]; .) end)}),
     at_most("probe_ports_median"; .median | max; 0.05),
     at_most("probe_ports_p90"; .p90 | max; 0.15),
     at_most("probe_bandwidth_vs_likwid"; [.bandwidths[] | select(.kind == "read") | .off | values | fabs] | max; 0.10)];

def number: if . == null then "not known" elif . >= 100 then (. | round | tostring) else (. * 100 | round / 100 | tostring) end;

def page($cpu):
    "# Three probes of one machine in a row",
    "",
    "`make validate` writes this page (`bench/accuracy/machines/probe.sh`). Measured on \($cpu) (\(.name)); the probes took \(.seconds | map(tostring) | join(", ")) seconds.",
    "",
    "Sizes of L1 and L2: found \(.l1.found | map(tostring) | join(", ")) and \(.l2.found | map(tostring) | join(", ")) bytes; by the maker \(.l1.known) and \(.l2.known) (0: not in `bench/accuracy/machines/probe_sizes.conf`).",
    "Multisets of instructions that were not used: median error \(.median | map(. * 100 | number) | join(", "))%, 90th percentile \(.p90 | map(. * 100 | number) | join(", "))%.",
    "",
    "## Bandwidths of one core",
    "",
    "10⁹ bytes a second, by the probes and by likwid-bench with the same working sets and vectors: the middle of three each. A copy moves each byte twice.",
    "",
    "| level | kind | KiB | probed | likwid-bench | difference |",
    "|---|---|--:|--:|--:|--:|",
    (.bandwidths[] | "| \(.level) | \(.kind) | \(.kib) | \(.probed | number) | \(.likwid | number) | \(if .off == null then "" else "\(.off * 100 | number)%" end) |"),
    "",
    "## Agreement",
    "",
    "The gap is by how much the intervals of the three do not overlap, relative to the figure; the spread is that of the estimates. The twenty with the largest spread:",
    "",
    "| figure | estimates | spread | gap |",
    "|---|---|--:|--:|",
    ([.agreement[] | select(.gap != null)] | sort_by(-.spread) | .[:20][]
     | "| \(.name) | \(.estimates | map(number) | join(", ")) | \(.spread * 100 | number)% | \(.gap * 100 | number)% |"),
    "",
    "\([.agreement[] | select(.gap == 0)] | length) of \(.agreement | length) figures agree within their intervals; \([.agreement[] | select(.gap == null)] | length) were not found in all three.";
