# Loops run alone beside predictions of their schedules: which loops, how far off, and where two predictors differ.  From
# $BUILD/loops_alone.json to a list of loops, figures and the page docs/schedule.md.
include "validation_words";

# ---- which loops ------------------------------------------------------------------------------------

def most_of_a_library: 150;

def digit: explode[0] | if . >= 97 then . - 87 else . - 48 end;
# A 64-bit number in hexadecimal digits modulo 10; as a number it would lose digits.
def modulo_ten: ltrimstr("0x") | reduce (split("")[]) as $digit (0; (. * 16 + ($digit | digit)) % 10);
def sixteen_digits: ltrimstr("0x") | ("0" * (16 - length) // "") + .;
def library_of: if IN("OpenBLAS", "FFTW", "GSL") then . else "applications" end;

# Of each library, and of the applications as one: loops that ran, with an 80% interval of less than a tenth of the figure; of several with
# the same code the first; by hash, up to 150.  A tenth, those whose hash is a multiple of ten, is apart: nothing is tuned to it.
def chosen: [.[] | .file as $file | .loops[] | select(.result == "ran" and .cycles > 0 and .cycles_high - .cycles_low < 0.1 * .cycles)
        | {library: ($file | library_of), $file, loop: .label, hash: (.hash | sixteen_digits), instructions, bytes, code,
           low: .cycles_low, cycles, high: .cycles_high}]
    | group_by(.library) | map(unique_by(.hash)[:most_of_a_library]) | add
    | to_entries | map(.value + {number: (.key + 1), apart: (.value.hash | modulo_ten == 0)});

# As it is kept in the sources.
def list: ["library", "file", "loop", "hash", "instructions", "bytes", "apart"],
    (.[] | [.library, .file, .loop, .hash, .instructions, .bytes, if .apart then "apart" else "" end]) | @tsv;

# ---- rows -------------------------------------------------------------------------------------------

# A loop as it is chosen, with
#     kind, width, text      what its instructions are (bench/mca.bash)
#     ours: {MACHINE: {result, cycles, modulo_cycles, bound, unknown_share}}, MACHINE a shipped file or "probed"
#     theirs: {MACHINE: cycles, or why not as a text}

# Of `pmodel schedule --all`: what is known of a loop, by hash.
def by_hash: [.[].loops[] | select(.hash != null) | {key: (.hash | sixteen_digits), value: {result, cycles, modulo_cycles, bound, unknown_share}}]
    | from_entries;

def with_predictions(predictions): map(.hash as $hash | .ours = (predictions | map_values(.[$hash] // {result: "not found"})));
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
def judged(of): {loops: (errors(of) | length), median: (errors(of) | median_of), p90: (errors(of) | p90),
    apart: (map(select(.apart)) | {loops: (errors(of) | length), median: (errors(of) | median_of), p90: (errors(of) | p90)})};
# Those that both predict.
def both($machine; $other): map(select(ours($machine) != null and theirs($other) != null));
# How much the larger is above the smaller, of ours and theirs.
def apart_by($machine): [ours($machine), theirs($machine)] | (max / min) - 1;
def differing($machine): both($machine; $machine) | map(select(apart_by($machine) > 0.3));

# ---- figures ----------------------------------------------------------------------------------------

def at_most($name; $target): select(. != null) | {name: $name, value: ., unit: "relative error", $target, holds: (. <= $target)};
def part_figures($prefix; $judged): $judged
    | (.median | at_most("\($prefix)_median"; 0.1)), (.p90 | at_most("\($prefix)_p90"; 0.25)),
      (.apart.median | at_most("\($prefix)_median_apart"; 0.1)), (.apart.p90 | at_most("\($prefix)_p90_apart"; 0.25));
# Our median error over theirs, on loops that both predict.
def over_theirs($machine; $shipped): both($machine; $shipped)
    | (errors(ours($machine)) | median_of) as $ours | (errors(theirs($shipped)) | median_of) as $theirs
    | if $ours == null or $theirs == null or $theirs == 0 then null else $ours / $theirs end;
