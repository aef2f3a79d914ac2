# From what `pmodel validate --time --format json` says of each round (bench/accuracy/time/time.sh) to figures and the page docs/time.md.
include "validation_words" {search: "../../lib"};

# ---- rounds of one program ----------------------------------------------------------------------

# The value that this share of the array is below, as core/base/estimate.h has p90.
def spread_of: sort | length as $n | {least: .[0], median: median, p90: .[$n - 1 - ($n / 10 | floor)], n: $n};

# Is the row of the part that nothing is tuned to?  Every third, by the last two digits of the key.
def hex_digit: if . >= 97 then . - 87 else . - 48 end;
def set_apart: .key != null and ((.key | explode | .[-2:] | map(hex_digit) | .[0] * 16 + .[1]) % 3 == 0);

# An array of the outputs of all rounds → one object; times of all processes together, predictions of the last.
def join_rounds(name; kind): [.[].sizes[0]] as $rounds | $rounds[-1] as $last
    | {program: name, kind: kind, size: $last.parameters.N, machine: $last.machine, extrapolation: $last.extrapolation,
       measured_on: $last.measured_on, over_plain: ([$rounds[].over_plain] | median),
       core_share: ([$rounds[].core_share | select(. != null)] | if length == 0 then null else add / length end),
       rows: [range($last.rows | length) as $i | $last.rows[$i] as $row
         | [$rounds[].rows[] | select(.kind == $row.kind and .key == $row.key) | .runs_seconds[]] as $runs
         | ($runs | spread_of) as $spread
         | $row | del(.runs_seconds) | . + {measured_seconds: $spread.least, median_seconds: $spread.median, p90_seconds: $spread.p90,
             processes: $spread.n, apart: set_apart,
             error: (if $spread.least > 0 then .predicted_seconds / $spread.least - 1 else null end),
             inside: (if .low_seconds == null then null else .low_seconds <= $spread.least and $spread.least <= .high_seconds end)}]}
    | .rows[0].measured_seconds as $whole
    | .rows |= map(.share = .measured_seconds / $whole | .large = (.kind == "nest" and .share >= 0.02));

# ---- figures ------------------------------------------------------------------------------------

def programs: [.[] | .rows[] | select(.kind == "program")];
def nests: [.[] | .rows[] | select(.large)];
def errors: map(.error | magnitude);
def figure(name; value; target): if value == null then empty else
    {name: name, value: value, unit: "fraction", target: target, holds: (value <= target)} end;
def median_or_null: if length == 0 then null else median end;
def coverage: map(select(.inside != null)) | if length == 0 then null else (map(select(.inside)) | length) / length end;

# Of each other machine, programs and nests with the same code.
def cross_errors: [.[] | select(.same_code == 1)] | programs + nests | errors;

def time_figures: .here as $here | .cross as $cross | [
    figure("time_program_median"; $here | programs | errors | median_or_null; 0.10),
    figure("time_program_worst"; $here | programs | errors | max; 0.25),
    figure("time_loop_median"; $here | nests | errors | median_or_null; 0.15),
    figure("time_loop_median_apart"; $here | nests | map(select(.apart)) | errors | median_or_null; 0.15),
    ($here | (programs + nests) | coverage | select(. != null)
        | {name: "time_interval_coverage_80", value: ., unit: "fraction", target: [0.70, 0.90], holds: (. >= 0.70 and . <= 0.90)}),
    # By the papers' formula, from the same counts.
    ($here | [.[] | .simple_error | select(. != null) | magnitude] | median_or_null | select(. != null)
        | {name: "time_simple_median", value: ., unit: "fraction", target: null, holds: true}),
    figure("time_cross_median"; $cross | cross_errors | median_or_null; 0.20)];

# ---- the page -----------------------------------------------------------------------------------

def seconds: if . == null then "?" elif . == 0 then "0" elif . >= 1 then "\(two_digits) s" elif . >= 1e-3 then "\(. * 1e3 | two_digits) ms"
    else "\(. * 1e6 | two_digits) us" end;
def yes_no: if . == null then "?" elif . then "yes" else "no" end;

def kind_word: {in_l2: "in L2", beyond_llc: "beyond"}[.] // "";
def program_row: . as $case | .rows[0] as $row | (.rows | map(select(.large))) as $nests
    | ($nests | map(.error | magnitude)) as $errors
    | ["\(.program) \(.kind | kind_word)", "\(.size)", "\(.extrapolation | two_digits)",
       ($row.predicted_seconds | seconds), ($row.measured_seconds | seconds), ($row.median_seconds | seconds),
       ($row.error | signed), ($row.inside | yes_no), "\($nests | length)",
       (if $errors == [] then "-" else $errors | median | percent end), (if $errors == [] then "-" else $errors | max | percent end),
       "\($case.over_plain | two_digits)", (if $case.core_share == null then "?" else $case.core_share | two_digits end)];
def programs_table: table(["program", "N", "beyond", "predicted", "measured", "median", "error", "inside 80%", "nests", "their median", "worst",
    "with timers", "of a core"]; map(program_row));

# Why a nest is off, as far as the prediction knows.
def why: . as $row | if .reasons then .reasons else ["mostly \(.largest_part // "nothing") (\(if .predicted_seconds > 0 then ([.parts_seconds[] | select(. != null)] | max) / .predicted_seconds | percent else "0" end) of it)"]
    + (if .doubts then [.doubts] else [] end) | join("; ") end;
def far_off: [.[] | . as $case | .rows[] | select(.large and (.error | magnitude) > 0.4)
    | {program: $case.program, kind: $case.kind, row: .}];
def nests_table: table(["nest", "source", "predicted", "measured", "error", "of the program", "why"];
    [.[] | [("\(.row.label | code) of \(.program) \(.kind)"), "\(.row.file // "?" | split("/") | last):\(.row.line // "?")",
        (.row.predicted_seconds | seconds), (.row.measured_seconds | seconds), (.row.error | signed), (.row.share | percent), (.row | why)]]);

def cross_table: table(["processor", "program", "N", "same code", "predicted", "measured", "error", "nests", "median", "worst"];
    [.[] | .rows[0] as $row | (.rows | map(select(.large)) | map(.error | magnitude)) as $errors
     | [.on, "\(.program) \(.kind | kind_word)", "\(.size)", (.same_code | percent),
        ($row.predicted_seconds | seconds), ($row.measured_seconds | seconds), ($row.error | signed), "\($errors | length)",
        (if $errors == [] then "-" else $errors | median | percent end), (if $errors == [] then "-" else $errors | max | percent end)]]);

def target_text: if . == null then "-" elif type == "array" then map(percent) | join(" to ") else percent end;
def figures_table: table(["figure", "value", "target", ""];
    [.[] | [(.name | code), (.value | percent), (.target | target_text), if .target == null then "beside" elif .holds then "holds" else "does not hold" end]]);

def page(cpu; processes; minutes): . as $all | (.here | far_off) as $off
    | "# Predicted against measured time",
      "",
      "Written by `make validate` (`bench/accuracy/time/time.sh`) on \(cpu). Sizes are those of `bench/apps/sizes.conf`: models are made of `KIND.fit`,",
      "and the size that is predicted is 2 to 8 times the largest of these (*beyond*), inside the second level of cache, or beyond a last level of 32 MiB. The",
      "clock's figure is the least of \(processes) processes or more\(if minutes == "0" then "" else " over \(minutes) minutes" end): of a program its CPU time without timers, of a nest the time in its timer.",
      "Nests are those with at least 2% of the program's time; one without a timer is judged with what it is in. *With timers*: CPU time with",
      "timers over that without, which a nest's time is no surer than. *Of a core*: the share of its slots that the host gave meanwhile. Nothing is tuned to a third of the nests (`_apart`).",
      "",
      (time_figures | figures_table),
      "",
      "## Programs",
      "",
      (.here | programs_table),
      "",
      "## Nests that are off by more than 40%",
      "",
      (if $off == [] then "None." else $off | nests_table end),
      "",
      "## Other processors",
      "",
      "Predicted from what was counted here for a processor that is described in `machines/measured/`, against the times that were measured",
      "there, in one process; same code: share of the innermost loops whose code is the same. Only programs that are the same throughout are in the figure.",
      "",
      (if .cross == [] then "No times of other processors are known." else .cross | cross_table end),
      (if .unseen == [] then empty else "", "## Programs that nothing was tuned to", "",
        "Of three programs from Debian's sources (`bench/accuracy/time/time_unseen.sh`) those that could be timed.", "", (.unseen | programs_table) end);
