# Figures of predict.sh.  A row is {set, program, loops, groups, machine, factor, seconds, mib}, null where the prediction was given
# up; of commands that ask many times {what, seconds, mib}.
include "bench_figures";

def named: "\(.program) at \(.factor) times on \(.machine)";

# The figure of the largest `value` of some rows, and which row that is.
def worst(name; unit; target; value):
    (if any(.[]; value == null) then map(select(value == null)) | .[0] else max_by(value) end) as $row
    | (map(value) | at_most(name; unit; target; max)) + {worst: (if $row then $row | named else null end)};

# Seconds at the largest factor over those at the least, for each program and machine.
def growth: group_by([.program, .machine]) | map(sort_by(.factor)
    | if any(.[]; .seconds == null or .seconds == 0) then null else .[-1].seconds / .[0].seconds end);

def figures_of_set(set; prefix; rows): rows | map(select(.set == set)) | select(length > 0)
    | (map(.seconds) | at_most("\(prefix)_seconds"; "s"; 0.2; geometric_mean)),
      worst("\(prefix)_seconds_worst"; "s"; 2; .seconds),
      (growth | at_most("\(prefix)_growth"; "ratio"; 1.2; geometric_mean)),
      worst("\(prefix)_memory_mib"; "MiB"; 200; .mib);

def figures(rows; others): [
    figures_of_set("applications"; "predict"; rows), figures_of_set("apart"; "predict_apart"; rows),
    (others | map(select(.what == "page").seconds) | at_most("predict_page_seconds"; "s"; 15; max)),
    (others | map(select(.what == "scaling").seconds) | at_most("predict_scaling_seconds"; "s"; 5; max))];

# A line for each program: geometric means over machines at each factor, and the worst.
def table(rows):
    def mean: if length == 0 or any(.[]; . == null) then null else geometric_mean end;
    def round3: if . == null then "-" else . * 1000 | round / 1000 end;
    ["program", "loops", "groups", "2x s", "8x s", "64x s", "growth", "worst s", "", "worst MiB", ""],
    (rows | group_by([.set, .program])[] | . as $rows
        | [.[0].program, .[0].loops, .[0].groups]
        + [(2, 8, 64) as $factor | [$rows[] | select(.factor == $factor).seconds] | mean | round3]
        + [growth | mean | round3]
        + [worst(""; ""; 0; .seconds), worst(""; ""; 0; .mib) | (.value | round3), (.worst | sub("^.* at "; ""))]);
