# The rows of a machine (`pmodel machines NAME --format json`) beside what llvm-mca says of probe instructions.

# ---- what is read -----------------------------------------------------------------------------------

def is_memory: IN("load_int", "load_fp", "store_int", "store_fp", "gather", "scatter", "prefetch", "atomic", "string");

# From the text of a file of probes: [{class, width, element, text, mnemonic}].
def probes: [split("\n")[] | select(test("^[a-z]"))
    | capture("^(?<class>\\S+)\\s+(?<width>\\d+)\\s+(?<element>\\d+)\\s+(?<text>.*\\S)\\s*$")
    | .width |= tonumber | .element |= tonumber
    # Rows of mnemonics are not of loads and stores (sched/costs.c).
    | .mnemonic = if .class | is_memory then null else .text | split(" ")[0] | split(".")[0] end];

# From the text of the file llvm.machines: [{machine, isa, cpu, counted, units: [{ours: [name …], llvm: [name …]} …]}].
# A row "(v)addpd" is one of addpd and one of vaddpd; the second is probed.
def once: [.[] | select(.mnemonic) | "\(.mnemonic) \(.width) \(.element)"] as $all
    | [.[] | select((.mnemonic == null) or ("v\(.mnemonic) \(.width) \(.element)" | IN($all[]) | not))];

def llvm_machines: reduce (split("\n")[] | sub("#.*"; "") | select(test("\\S"))) as $line ([];
    if $line | test("^\\s") then
        .[-1].units += [$line | split("=") | map([splits("\\s+") | select(. != "")]) | {ours: .[0], llvm: .[1]}]
    else . + [$line | [splits("\\s+")]
        | {machine: .[0], isa: .[1], cpu: .[2], counted: (.[3] == "counted"), units: []}] end);

# From llvm-mca's JSON: its figures of each probe, by the number that is the name of the probe's region.  Probes that llvm does not
# know have none.  Units of which there are several have their number behind a point, as a control character.
def llvm_figures: .TargetInfo.Resources as $resources
    | [.CodeRegions[] | select(.InstructionInfoView.InstructionList // [] | length > 0)
       | {key: .Name, value: {
            latency: .InstructionInfoView.InstructionList[0].Latency,
            throughput: .InstructionInfoView.InstructionList[0].RThroughput,
            units: [.ResourcePressureView.ResourcePressureInfo[]? | select(.InstructionIndex == 0 and .ResourceUsage > 0)
                | $resources[.ResourceIndex] | split(".")[0]] | unique}}]
    | from_entries;

# ---- a row ------------------------------------------------------------------------------------------

# The index of the row that counts for a probe: of its mnemonic before its class, then as pm_machine_cost
# (core/machine/machine.c) chooses: the narrowest that covers the width, then that of the element.
def row_of($costs; $probe):
    def best: [.[] | select((.row.width == null or .row.width >= $probe.width)
            and (.row.element == null or .row.element == $probe.element))]
        | sort_by(.row.width // infinite, .row.element == null) | .[0].index;
    [$costs | to_entries[] | {index: .key, row: .value}] as $rows
    | ([$rows[] | select(.row.mnemonic and .row.mnemonic == $probe.mnemonic)] | best)
      // ([$rows[] | select(.row.mnemonic == null and .row.class == $probe.class)] | best);

# The units that a row's reservation tables name: "2*p5 + p0|p1:3@2" → p0 p1 p5.
def units_of_row: [(.uses // [])[] | split("+")[] | sub("^\\s*[0-9]+\\s*\\*"; "") | sub("[:@].*$"; "") | split("|")[]
    | gsub("\\s"; "")] | unique;

# Units of one side, "ours" or "llvm", as one text; those that the other side lacks are left out.  `$shared`: [{ours, llvm}].
def shared_units($shared; $side): . as $units
    | [$shared[] | select(.[$side] - (.[$side] - $units) != []) | .ours | join("/")] | unique
    | if . == [] then "none" else join(" ") end;

# What nothing waits for has no latency to compare.
def has_result: IN("store_int", "store_fp", "scatter", "prefetch", "branch", "jump", "call", "return", "nop") | not;

# ---- differences ------------------------------------------------------------------------------------

def number: if . == null then "none" else . * 100 | round / 100 | tostring end;
def differ($x; $y): ($x - $y | fabs) > 0.05 * ([$x, $y] | max);
def difference($figure; $ours; $llvm): select(differ($ours; $llvm))
    | {figure: $figure, ours: ($ours | number), llvm: ($llvm | number), close: (($ours - $llvm | fabs) <= 1)};

# Where a probe's row and llvm are not the same: [{figure, ours, llvm, close}].  `close`: within one cycle.  Units are
# compared, too, but a row agrees whatever they are.
def differences($row; $llvm; $shared):
    if $llvm == null then [{figure: "instruction", ours: "known", llvm: "unknown", close: false}] else
    [(select(.class | has_result) | difference("latency"; $row.latency; $llvm.latency)),
     # What needs no unit is limited by the width of issue alone, which is no row's figure.
     (select($row.free | not) | difference("throughput"; $row.throughput; $llvm.throughput)),
     (($row | units_of_row | shared_units($shared; "ours")) as $ours
        | ($llvm.units | shared_units($shared; "llvm")) as $theirs | select($ours != $theirs)
        | {figure: "units", ours: $ours, llvm: $theirs, close: true})] end;

# From a machine: {shared, unmatched (units that $units does not name), probes: [{…, row (index in costs), counts, llvm, differences}], rows: [{unverified, close, differences: [{what, rest}]}]},
# where `what` is a class or mnemonic, a width and an element, and `rest` the figures, both as in a file of differences.
def compare($probes; $llvm; $units):
    [.units[].name] as $names | .costs as $costs
    | [$units[] | .ours -= (.ours - $names) | select(.ours != [] and .llvm != [])] as $shared
    | [$probes | to_entries[] | .value + {llvm: $llvm[.key + 1 | tostring]}
       | .row = row_of($costs; .) | select(.row != null) | $costs[.row] as $row
       | .what = [if $row.mnemonic then .mnemonic else .class end, "\(.width)", "\(.element)"]
       | .differences = differences($row; .llvm; $shared)]
    # Of probes of the same class or mnemonic, width and element the first counts.
    | reduce .[] as $probe ({seen: {}, probes: []}; ($probe.what | join(" ")) as $key
        | .probes += [$probe + {counts: (.seen[$key] | not)}] | .seen[$key] = true)
    | .probes as $all
    | {$shared, unmatched: ($names - [$units[].ours[]]), probes: $all, rows: [range($costs | length) as $r | $costs[$r]
        | [$all[] | select(.row == $r and .counts)] as $own
        | {unverified: (.unverified // [] | length > 0), close: ($own != [] and all($own[].differences[]; .close)),
           differences: (if $own == [] then
                [{what: [.mnemonic // .class, (.width, .element | . // "any" | tostring)], rest: "probe: ours a row, llvm's none"}]
            else [$own[] | .what as $what | .differences[] | {$what, rest: "\(.figure): ours \(.ours), llvm's \(.llvm)"}] end)}]};

# ---- what is shown ----------------------------------------------------------------------------------

# Of what compare says; lines of texts between tabulators.
def table($costs): .shared as $shared
    | ["CLASS", "WIDTH", "ELEMENT", "PROBE", "LATENCY", "LLVM'S", "THROUGHPUT", "LLVM'S", "UNITS", "LLVM'S", "NOTES"],
      (.probes[] | $costs[.row] as $row
        | [.class, .width, .element, .text, ($row.latency | number), (.llvm.latency | number),
           (if $row.free then "free" else $row.throughput | number end), (.llvm.throughput | number),
           ($row | units_of_row | shared_units($shared; "ours")), (.llvm.units // [] | shared_units($shared; "llvm")),
           ([(if .differences == [] then empty elif all(.differences[]; .close) then "differs" else "differs by more than a cycle" end),
             (select($row.mnemonic) | "row of its mnemonic"), (select(($row.unverified // []) != []) | "unverified"),
             (select(.counts | not) | "another of its class")] | join(", "))])
    | @tsv;

# ---- what is listed ---------------------------------------------------------------------------------

# A file of differences is lines `CLASS WIDTH ELEMENT FIGURE: ours X, llvm's Y, reason: TEXT`.  Of the first three, `a|b` stands for a line with a
# and one with b, and `*` for any.  → for each such line {what: [class, width, element], rest, reason}.
def listed: [split("\n")[] | select(test("^[a-z]")) | capture("^(?<what>\\S+ \\S+ \\S+) (?<rest>.*?)(, reason: *(?<reason>.*?))?\\s*$")
    | .rest as $rest | (.reason // "") as $reason | [.what | split(" ")[] | split("|")] | .[0][] as $class | .[1][] as $width | .[2][] as $element
    | {what: [$class, $width, $element], rest: $rest, reason: $reason}];

def covers($line): .rest == $line.rest and ([.what, $line.what] | transpose | all(.[]; .[0] == "*" or .[0] == .[1]));
def text: "\(.what | join(" ")) \(.rest)";

# Lines that are not covered with a reason, those that differ in class, width or element only as one.
def list($listed): [.rows[].differences[] | . as $line | select(any($listed[]; .reason != "" and covers($line)) | not)]
    | reduce (2, 1, 0) as $place (.;
        [group_by([.rest, (.what | del(.[$place]))])[] | ([.[].what[$place]] | unique | join("|")) as $all | .[0] | .what[$place] = $all])
    | sort_by(.what)[] | "\(text), reason: ";

def summary($listed): [.rows[].differences[]] as $lines | [$listed[] | select(.reason != "")] as $explaining
    | def agrees: .close and (.unverified | not);
      def is_explained: . as $line | any($explaining[]; covers($line));
    {rows: (.rows | length), agreeing: ([.rows[] | select(agrees)] | length), unverified: ([.rows[] | select(.unverified)] | length),
     close: ([.rows[] | select(.close)] | length),
     agreeing_or_explained: ([.rows[] | select(agrees or all(.differences[]; is_explained))] | length),
     unmatched_units: .unmatched, differences: ($lines | length), not_listed: [$lines[] | select(is_explained | not) | text],
     gone: [$listed[] | . as $entry | select(any($lines[]; . as $line | $entry | covers($line)) | not) | text]};
