# Loops run alone beside predictions of their schedules: which loops, how far off, and where two predictors differ.  From
# $BUILD/loops_alone.json to a list of loops, figures and the page docs/schedule.md.
include "validation_words" {search: "../../lib"};

# ---- which loops ------------------------------------------------------------------------------------

def most_of_a_library: 150;

def digit: explode[0] | if . >= 97 then . - 87 else . - 48 end;
# A 64-bit number in hexadecimal digits modulo 10; as a number it would lose digits.
def modulo_ten: ltrimstr("0x") | reduce (split("")[]) as $digit (0; (. * 16 + ($digit | digit)) % 10);
def sixteen_digits: ltrimstr("0x") | ("0" * (16 - length) // "") + .;
def library_of: if IN("OpenBLAS", "FFTW", "GSL") then . else "applications" end;

# Where a loop stands, in the files that are run: loops with the same code need not lie in lines in the same way.
def place: .key + .address;
def ran: .result == "ran" and .cycles > 0;
def width: (.cycles_high - .cycles_low) / .cycles;
def is_narrow: ran and width < 0.1;

# Of each library, and of the applications as one: loops that ran, with an 80% interval of less than a tenth of the figure; of several with
# the same code the first; by hash, up to 150.  A tenth, those whose hash is a multiple of ten, is apart: nothing is tuned to it.
def chosen: [.[] | .file as $file | .loops[] | select(is_narrow)
        | {library: ($file | library_of), $file, loop: .label, place: place, hash: (.hash | sixteen_digits), instructions, bytes, code,
           low: .cycles_low, cycles, high: .cycles_high}]
    | group_by(.library) | map(unique_by(.hash)[:most_of_a_library]) | add
    | to_entries | map(.value + {number: (.key + 1), apart: (.value.hash | modulo_ten == 0)});

# Files of which a quarter of the loops are wide, where that leaves less than 150.
def too_few: .[] | .file as $file | [.loops[] | select(ran)] | unique_by(.hash) | select(length > 0)
    | (map(select(is_narrow)) | length) as $narrow | select($narrow < most_of_a_library and $narrow < 0.75 * length) | $file;
# With what another run of a file found more exactly.
def narrowed($again): ([$again.loops[] | {key: place, value: .}] | from_entries) as $new
    | map(if .file != $again.file then . else .loops |= map($new[place] as $other
        | if ($other // {} | ran) and ((ran | not) or ($other | width) < width) then $other else . end) end);

# As it is kept in the sources.
def list: ["library", "file", "loop", "hash", "instructions", "bytes", "apart"],
    (.[] | [.library, .file, .loop, .hash, .instructions, .bytes, if .apart then "apart" else "" end]) | @tsv;

# ---- rows -------------------------------------------------------------------------------------------

# A loop as it is chosen, with
#     kind, width, text      what its instructions are (bench/lib/mca.bash)
#     ours: {MACHINE: {result, cycles, modulo_cycles, bound, unknown_share}}, MACHINE a shipped file or "probed"
#     theirs: {MACHINE: cycles, or why not as a text}

# Of `pmodel loops --schedule --all`: what is known of a loop, by its place.
def by_place: [.[].loops[] | select(.hash != null) | {key: place, value: {result, cycles, modulo_cycles, bound, unknown_share}}]
    | from_entries;

def with_predictions(predictions): map(.place as $place | .ours = (predictions | map_values(.[$place] // {result: "not found"})));
# Lines "number TAB …" into objects by number.
def tab_lines: [split("\n")[] | select(. != "") | split("\t") | {key: .[0], value: .[1:]}] | from_entries;
def with_kinds(lines): (lines | tab_lines) as $of | map(($of["\(.number)"] // ["?", "?", ""]) as $k | . + {kind: $k[0], width: $k[1], text: $k[2]});
def with_theirs(lines): (lines | map_values(tab_lines)) as $all
    | map("\(.number)" as $n | .theirs = ($all | with_entries(.value |= (.[$n][0] // "unparsable")) | map_values(if test("^[0-9.]+$") then tonumber else . end)));

def ours($machine): .ours[$machine].cycles;
def theirs($machine): .theirs[$machine] | numbers;
def error($predicted): ($predicted - .cycles | magnitude) / .cycles;

# ---- statistics -------------------------------------------------------------------------------------

def median_of: if length == 0 then null else median end;
def p90: if length == 0 then null else sort | .[[(length * 0.9 | floor), (length - 1)] | min] end;
# Positions in ascending order, equal ones share the mean of theirs.
def ranks: [to_entries | sort_by(.value) | to_entries[] | {place: .key, index: .value.key, value: .value.value}] | group_by(.value)
    | map((map(.place) | add / length) as $rank | .[] | {index, $rank}) | sort_by(.index) | map(.rank);
def correlation: if length < 3 then null else (map(.[0]) | add / length) as $x | (map(.[1]) | add / length) as $y
    | (map((.[0] - $x) * (.[1] - $y)) | add) / ((map((.[0] - $x) * (.[0] - $x)) | add) * (map((.[1] - $y) * (.[1] - $y)) | add) | sqrt) end;
# Spearman's, of [[x, y] …].
def rank_correlation: if length < 3 then null else [(map(.[0]) | ranks), (map(.[1]) | ranks)] | transpose | correlation end;

# Errors of those rows that $of predicts.
def errors(of): [.[] | of as $cycles | select($cycles != null) | error($cycles)];
# {loops, median, p90} of what is not apart and of what is.
def judged_all(of): {loops: (errors(of) | length), median: (errors(of) | median_of), p90: (errors(of) | p90)};
def judged(of): (map(select(.apart | not)) | judged_all(of)) + {apart: (map(select(.apart)) | judged_all(of))};
# Those that both predict.
def both($machine; $other): map(select(ours($machine) != null and theirs($other) != null));
# How much the larger is above the smaller, of ours and theirs.
def apart_by($machine): [ours($machine), theirs($machine)] | (max / min) - 1;
def differing($machine): both($machine; $machine) | map(select(apart_by($machine) > 0.3));

# ---- figures ----------------------------------------------------------------------------------------

def at_most($name; $target): select(. != null) | {name: $name, value: ., unit: (if $name | test("_vs_") then "ratio" else "relative error" end), $target, holds: (. <= $target)};
def part_figures($prefix; $judged): $judged
    | (.median | at_most("\($prefix)_median"; 0.1)), (.p90 | at_most("\($prefix)_p90"; 0.25)),
      (.apart.median | at_most("\($prefix)_median_apart"; 0.1)), (.apart.p90 | at_most("\($prefix)_p90_apart"; 0.25));
# Our median error over theirs, on loops that both predict.
def over_theirs($machine; $shipped): both($machine; $shipped)
    | (errors(ours($machine)) | median_of) as $ours | (errors(theirs($shipped)) | median_of) as $theirs
    | if $ours == null or $theirs == null or $theirs == 0 then null else $ours / $theirs end;
# Our cycles against those of the machines of LLVM: [{machine, cpu, counted}].
def correlations($llvm): . as $rows | $llvm[] | .machine as $m | ($rows | both($m; $m)) as $common
    | . + {loops: ($common | length), value: ($common | map([ours($m), theirs($m)]) | rank_correlation),
       differing: ($common | map(select(apart_by($m) > 0.3)) | length)};

def figures_of($shipped; $llvm): . as $rows
    | ([$rows[] | select(any(.ours[]; .cycles != null))] | length | {name: "l1_loops", value: ., unit: "loops", target: 500, holds: (. >= 500)}),
      part_figures("l1_loops"; judged(ours("probed"))), part_figures("l1_loops_shipped"; judged(ours($shipped))),
      (over_theirs("probed"; $shipped) | at_most("l1_loops_vs_mca"; 1)),
      (over_theirs($shipped; $shipped) | at_most("l1_loops_shipped_vs_mca"; 1)),
      ([correlations($llvm) | select(.counted) | .value | numbers] | select(length > 0) | min
        | {name: "mca_rank_correlation", value: ., unit: "Spearman's, the least of all processors", target: 0.8, holds: (. >= 0.8)});
def schedule_figures($shipped; $llvm): [figures_of($shipped; $llvm)];

# ---- differences from llvm-mca ----------------------------------------------------------------------

# A class of loops: what holds them back by our prediction, kind of instructions, width of vectors.
def class_of($machine): "\(.ours[$machine].bound // "?"), \(.kind), \(.width)";
# Lines `BOUND, KIND, WIDTH: reason`, where `*` stands for any.
def reasons: [split("\n")[] | select(test("^[^#]")) | capture("^(?<class>[^:]+): *(?<reason>.*)$") | .class |= split(", ")];
def reason_of($known): split(", ") as $class
    | first($known[] | select([.class, $class] | transpose | all(.[0] == "*" or .[0] == .[1])) | .reason) // "";

def difference_rows($shipped; $llvm; $known): . as $rows
    | [$llvm[].machine as $m | $rows | differing($m)[] | {machine: $m, class: class_of($m), longer: (ours($m) > theirs($m)),
        nearer: (if $m == $shipped then error(ours($m)) <= error(theirs($m)) else null end)}]
    | group_by(.class) | sort_by(-length) | map(.[0].class as $class
        | [$class] + [$llvm[].machine as $m | "\(map(select(.machine == $m)) | length)"]
          + ["\(map(select(.longer)) | length)", "\(map(select(.nearer == true)) | length) of \(map(select(.nearer != null)) | length)",
             ($class | reason_of($known))]);

# ---- the page ---------------------------------------------------------------------------------------

def share: if . == null then "?" else percent end;
def figure: if . == null then "?" else . * 1000 | round / 1000 | tostring end;
def cycles: if . == null then "?" else two_digits end;
def judged_row($name; of): judged(of) | [$name, "\(.loops)", (.median | share), (.p90 | share), "\(.apart.loops)", (.apart.median | share), (.apart.p90 | share)];
def judged_head($first): [$first, "loops", "median", "90th percentile", "apart", "median", "90th percentile"];

def sections($shipped; $llvm): . as $rows
    | ([$rows[0].ours | keys[] | select(. != "probed")]) as $machines
    | table(judged_head("predicted by");
        (if $rows[0].ours.probed then [$rows | judged_row("pmodel, as probed"; ours("probed"))] else [] end)
        + [$machines[] as $m | $rows | judged_row("pmodel, `\($m)`" + if $m == $shipped then " (the nearest)" else "" end; ours($m))]
        + [$llvm[] as $l | $rows | judged_row("llvm-mca, `\($l.cpu)`" + if $l.machine == $shipped then " (the nearest)" else "" end; theirs($l.machine))]),
      "",
      (if $rows[0].ours.probed then "probed" else $shipped end) as $best
      | ("By library, from the \(if $best == "probed" then "probed description" else "file `\($best)`" end), and llvm-mca's for `\($shipped)`:", "",
         table(judged_head("");
            [$rows | group_by(.library)[] | judged_row(.[0].library; ours($best)), judged_row("… llvm-mca"; theirs($shipped))]), "",
         "By what holds a loop back, as it is predicted:", "",
         table(judged_head("bound");
            [$rows | map(select(ours($best) != null)) | group_by(.ours[$best].bound)[] | judged_row(.[0].ours[$best].bound // "?"; ours($best))]), "",
         "By kind of instructions:", "",
         table(judged_head("kind");
            [$rows | group_by(.kind)[] | judged_row(.[0].kind; ours($best)), judged_row("… llvm-mca"; theirs($shipped))]), "",
         "## The worst twenty", "",
         ([$rows[] | select(ours($best) != null)] | sort_by(-error(ours($best)))[:20][]
            | "- `\(.file)` \(.loop) (\(.hash)\(if .apart then ", apart" else "" end)): measured \(.cycles | cycles), predicted \(ours($best) | cycles) (\(.ours[$best].bound // "?")),"
              + " llvm-mca \(theirs($shipped) // null | cycles); \(.instructions) instructions: `\(.text)`"));

def not_predicted: [.[] | . as $row | .ours | to_entries[] | select(.value.cycles == null) | {machine: .key, why: .value.result}] | group_by([.machine, .why])
    | map("\(.[0].machine): \(length) \(.[0].why)") | join("; ") | if . == "" then "none" else . end;

def page($cpu; $shipped; $llvm; $text): . as $rows | ($text | reasons) as $known
    | "# Schedules of loops",
      "",
      "Written by `make validate` (`bench/accuracy/machines/schedule.sh`) on \($cpu). Innermost loops run alone on this machine (`pmodel loops --time`), beside what",
      "`pmodel loops --schedule` predicts, and llvm-mca 19 of the same bytes. An error is |predicted − measured| / measured. The loops are chosen by a rule",
      "(`chosen` in `bench/accuracy/machines/schedule.jq`) and listed in `bench/accuracy/machines/schedule_loops.tsv`; those *apart*, a tenth by their hash, are in the last three columns only.",
      (if $rows[0].ours.probed then empty else "This processor has no probed description in `machines/measured/`." end),
      "",
      "## Against the measurement",
      "",
      ($rows | sections($shipped; $llvm)),
      "",
      "Loops without a prediction: \($rows | not_predicted).",
      "",
      "## Against llvm-mca",
      "",
      table(["machine", "llvm's", "loops", "rank correlation", "differ by more than 30%"];
        [$rows | correlations($llvm) | ["`\(.machine)`", "`\(.cpu)`\(if .counted then "" else " (another processor's model)" end)", "\(.loops)", (.value | figure), "\(.differing)"]]),
      "",
      "Of llvm's figures \([$rows[].theirs[] | select(. == "unparsable")] | length) are missing because it does not know an instruction, \([$rows[].theirs[] | select(. == "time-out")] | length) because it took too long.",
      "",
      "Loops that differ by more than 30%, by what holds them back (our prediction), kind of instructions, and width of vectors; in how many ours is the larger figure;",
      "in how many of those for `\($shipped)` ours is nearer to the measurement.",
      "",
      table(["class"] + [$llvm[].machine] + ["ours larger", "ours nearer", "reason"]; $rows | difference_rows($shipped; $llvm; $known));

# ---- initiation intervals ---------------------------------------------------------------------------

# Lines of tests/truth/modulo_programs.c with the machine before them.
def intervals: [split("\n")[] | select(. != "") | split("\t") | {machine: .[0], program: .[1], hash: .[2], nodes: (.[3] | tonumber), found: .[4], least: .[5], verdict: .[6]}];
def verdicts($which): map(select(.verdict == $which)) | length;
# Of those that are decided.
def equal_share: (verdicts("equal") / ([length - verdicts("undecided"), 1] | max));
def interval_figures($text): ($text | intervals) as $all
    | [{name: "ii_loops", value: ($all | group_by(.machine) | map(length) | min // 0), unit: "loops, the fewest of all machines", target: 300},
       {name: "ii_equal", value: ($all | equal_share), unit: "share", target: 0.95}] | map(.holds = (.value >= .target))
    | . + [($all | verdicts("below")) | {name: "ii_below", value: ., unit: "loops", target: 0, holds: (. == 0)}];
def interval_section($text): ($text | intervals) as $all
    | "", "## Initiation intervals", "",
      "Those of the modulo scheduler beside the least ones, which an integer program finds (`tests/truth/modulo_programs.c`, glpk): loops of the same files",
      "with at most 24 nodes. *Undecided*: not within the time given; they count in neither share.", "",
      table(["machine", "loops", "equal", "above", "below", "undecided", "share of equal ones"];
        [$all | group_by(.machine)[] | [.[0].machine, "\(length)", "\(verdicts("equal"))", "\(verdicts("above"))", "\(verdicts("below"))",
            "\(verdicts("undecided"))", (equal_share | percent)]]);
