# From what `pmodel validate --time --format json` says of each program and size (bench/accuracy/time/intervals.sh) to the constants of
# sched/constants.h, and to the page docs/intervals.md.
include "validation_words" {search: "../../lib"};
include "time";

# ---- rows ---------------------------------------------------------------------------------------

def hypotenuse: map(. * .) | add | sqrt;
# Rows whose interval can be judged; `chosen`: of the half that constants are chosen on, every second one of the keys in their order, so
# that a loop is on the same side at both sizes.
def judged: [.[] | . as $case | .sizes[0].rows[]
    | select((.kind == "program" or .large) and .predicted_seconds > 0 and .measured_seconds > 0 and .low_seconds != null)
    | . + {case: $case.case, log_error: (.measured_seconds / .predicted_seconds | log)}]
    | (map(.key | select(. != null)) | unique) as $keys | map(.key as $key | . + {chosen: ($key != null and ($keys | index($key)) % 2 == 0)});

# The interval that CONSTANTS make of the row: as sched/time_interval.c and core/prediction.c do for one scope.
def down(c): (1 - ([[., 0] | max / c, 0.999] | min)) | log | -.;
def up(c): 1 + ([., 0] | max) / c | log;
def between(k): .predicted_seconds as $c | .mispredictions_seconds as $wrong
    | ([.parts_seconds.schedule - $wrong, 0] | max) as $schedule
    | ([.lower_seconds, $c] | min) as $lower | ([.upper_seconds, $c] | max) as $upper
    | ([$schedule * (1 - (-k.schedule | exp)), $c * (1 - pow(([$lower, 1e-12] | max) / $c; k.down)), k.mispredicted * $wrong] | hypotenuse) as $below
    | ([$schedule * ((k.schedule | exp) - 1), $c * (pow($upper / $c; k.up) - 1)] | hypotenuse) as $above
    | (if .parts_seconds.schedule > 0 then [1, .models_low_schedule_seconds / .parts_seconds.schedule] | min else 0 end) as $fewer
    | (($schedule * (-k.schedule | exp) + (1 - k.mispredicted) * $wrong) * ([$fewer, 0] | max)) as $least
    | (k.machine * .machine_below_seconds) as $faster | (k.machine * .machine_above_seconds) as $slower
    | {low: ([$c / ([k.models * ($c - .models_low_seconds | down($c)), ($below | down($c)), ($faster | down($c))] | hypotenuse | exp), $least] | max),
       high: ($c * ([k.models * (.models_high_seconds - $c | up($c)), ($above | up($c)), ($slower | up($c))] | hypotenuse | exp)
              + k.missing * .missing_seconds)};
def coverage_of(k): [.[] | . as $row | between(k) as $b
        | {inside: ($b.low <= .measured_seconds and .measured_seconds <= $b.high), width: ($b.high / $b.low | log)}]
    | {n: length, coverage: ((map(select(.inside)) | length) / length), width: (map(.width) | add / length | exp)};

# ---- choosing -----------------------------------------------------------------------------------

def usual: {schedule: 0, down: 0, up: 0, mispredicted: 0.9, machine: 1, models: 1, missing: 1};
# The narrowest intervals, by the mean of the logarithms of high / low, of those that hold four of five.
def choose: [.[] | select(.kind == "nest" and .chosen)] as $rows
    | [range(2; 17) as $s | range(1; 11) as $d | range(1; 11) as $u
        | (usual + {schedule: ($s / 20), down: ($d / 10), up: ($u / 10)}) as $k | {constants: $k, of: ($rows | coverage_of($k))}]
    | map(select(.of.coverage >= 0.8)) | min_by(.of.width, .constants.schedule);

# How far errors of two nests of a program go together: mean of products over mean of squares.
def in_common: [.[] | select(.kind == "nest" and .chosen)] | group_by(.case)
    | [.[] | [.[].log_error] as $e | range($e | length) as $i | range($i + 1; $e | length) as $j | {product: ($e[$i] * $e[$j]), square: (($e[$i] * $e[$i] + $e[$j] * $e[$j]) / 2)}]
    | (map(.product) | add) / (map(.square) | add);

# ---- the page -----------------------------------------------------------------------------------

def share_inside: if length == 0 then "-" else "\(map(select(.inside)) | length) of \(length), \((map(select(.inside)) | length) / length | percent)" end;
def mean_width: if length == 0 then "-" else "\(map(.high_seconds / .low_seconds | log) | add / length | exp | two_digits)" end;
def coverage_row(name; rows): rows as $rows | [name, ($rows | share_inside), ($rows | mean_width),
    ($rows | map(.log_error | fabs) | if length == 0 then "-" else median | exp | two_digits | tostring end)];
def coverage_table: . as $rows | table(["of", "inside 80%", "mean of high / low", "median factor of error"]; [
    coverage_row("programs"; $rows | map(select(.kind == "program"))),
    coverage_row("nests of the half that constants are chosen on"; $rows | map(select(.kind == "nest" and .chosen))),
    coverage_row("nests of the other half"; $rows | map(select(.kind == "nest" and (.chosen | not)))),
    coverage_row("all"; $rows)]);

def trial(name; rows; k): rows as $rows | ($rows | map(select(.chosen)) | coverage_of(k)) as $a | ($rows | map(select(.chosen | not)) | coverage_of(k)) as $b
    | [name, ($a.coverage | percent), "\($a.width | two_digits)", ($b.coverage | percent), "\($b.width | two_digits)"];
def without_table(k): map(select(.kind == "nest")) as $rows
    | table(["nests", "chosen on: inside", "high / low", "the others: inside", "high / low"]; [
        trial("all of them"; $rows; k),
        trial("without `schedule_error`"; $rows; k + {schedule: 0}), trial("half of it"; $rows; k + {schedule: (k.schedule / 2)}),
        trial("without `share_downwards`"; $rows; k + {down: 0}), trial("without `share_upwards`"; $rows; k + {up: 0}),
        trial("without mispredictions"; $rows; k + {mispredicted: 0}), trial("without the machine's figures"; $rows; k + {machine: 0}),
        trial("without counts and misses"; $rows; k + {models: 0}), trial("without what is missing"; $rows; k + {missing: 0})]);

def outside_table: map(select(.inside | not)) | table(["row", "predicted", "80% between", "measured", "why it may be off"];
    [.[] | ["\(if .kind == "program" then "the program" else .label | code end) of \(.case)", (.predicted_seconds | seconds),
        "\(.low_seconds | seconds) to \(.high_seconds | seconds)", (.measured_seconds | seconds), (.reasons // .doubts // .largest_part // "-")]]);

# Intervals by the constants in use, whatever they were when the rows were predicted.
def by(k): map((. | between(k)) as $b | . + {low_seconds: $b.low, high_seconds: $b.high, inside: ($b.low <= .measured_seconds and .measured_seconds <= $b.high)});

def intervals_page(cpu; k): (judged | by(usual + k)) as $rows | ($rows | choose) as $chosen
    | "# Intervals of times",
      "",
      "Written by `bench/accuracy/time/intervals.sh` on \(cpu), from the clock's figures that `bench/accuracy/time/time.sh` left there. An 80% interval is to hold the measured time of",
      "four programs and nests of five. Constants are chosen on the nests of one half, every second by the order of their keys: the narrowest intervals",
      "that hold four of five. Whole programs take no part in that. Each row",
      "counts as one scope here: what the tool shows of a program, a sum of scopes that err by themselves in part, is narrower.",
      "",
      ($rows | coverage_table),
      "",
      "## Constants",
      "",
      table(["constant of `sched/constants.h`", "in use", "chosen now"]; [
        ["`schedule_error`", "\(k.schedule)", "\($chosen.constants.schedule // "-")"],
        ["`share_downwards`", "\(k.down)", "\($chosen.constants.down // "-")"],
        ["`share_upwards`", "\(k.up)", "\($chosen.constants.up // "-")"],
        ["`errors_in_common` (core/prediction.c)", "\(k.in_common)", "\($rows | in_common | two_digits)"]]),
      "",
      "`schedule_error` stays above what is chosen here: 0.1 is the least that is tried, and with half of 0.45 four of five",
      "of the other half are just held, but of the nests of programs that nobody here wrote",
      "(`bench/accuracy/time/time_unseen.sh`) 67% are inside with 0.45. Programs whose figures were in sight cannot say that",
      "schedules are nearer to the clock than that.",
      "",
      "What each is worth, for nests as if they were one scope each:",
      "",
      ($rows | without_table(usual + k)),
      "",
      "## Outside",
      "",
      ($rows | outside_table);
