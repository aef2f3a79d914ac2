# Figures and the page of bench/accuracy/time/peaks.sh from its rows.
include "validation_words" {search: "../../lib"};

def part($name): map(select(.part == $name));
def known: map(select(. != null));
def mean: known | if length == 0 then null else add / length end;

# ---- processors: the time there, by the ratio, beside the time here -----------------------------

def ratio_names: ["peak", "metasim", "convolved", "predicted"];
# Of the time that the ratio makes of the time there.
def ratio_error($name): if .ratio[$name] == null then null else .ratio.executed / .ratio[$name] - 1 end;
def off($name): map(ratio_error($name)) | known | map(fabs) | mean;

# ---- ranks --------------------------------------------------------------------------------------

def seconds_by($ratio; $network): (.by[] | select(.ratio == $ratio and .network == $network) | .seconds);
def by_error($ratio; $network): seconds_by($ratio; $network) as $s | if $s == null then null else $s / .executed - 1 end;
def by_off($ratio; $network): map(by_error($ratio; $network)) | known | map(fabs) | mean;

# ---- figures ------------------------------------------------------------------------------------

def figure($name; $value; $target): if $value == null then empty else
    {name: $name, value: $value, unit: "fraction", target: $target, holds: ($target == null or $value <= $target)} end;

# The target is what the paper has for its best combination.
def peaks_figures: . as $all | (part("processor")) as $processors | (part("parallel")) as $parallel | [
    (ratio_names[] | . as $name | figure("processor_ratio_\($name)_mean"; $processors | off($name); null)),
    figure("peak_ratio_peak_network_mean"; $parallel | by_off("peak"; "peak"); null),
    figure("metasim_ratio_peak_network_mean"; $parallel | by_off("metasim"; "peak"); null),
    figure("metasim_ratio_pattern_network_mean"; $parallel | by_off("metasim"; "pattern"); 0.23),
    figure("predicted_ratio_pattern_network_mean"; $parallel | by_off("predicted"; "pattern"); 0.23),
    figure("executed_ratio_peak_network_mean"; $parallel | by_off("executed"; "peak"); null),
    figure("executed_ratio_pattern_network_mean"; $parallel | by_off("executed"; "pattern"); null)];

# ---- the page -----------------------------------------------------------------------------------

def ms: (. * 1e5 | round / 100 | tostring) + " ms";
def ratio: if . == null then "?" else two_digits end;
def error: if . == null then "?" else signed end;
def mean_error: if . == null then "?" else percent end;
def kind_word: {in_l2: "in L2", beyond_llc: "beyond"}[.];

def processors_table: table(["program", "N", "same code", "executed on A", "on B", "shortest to longest", "ratio", "peak", "", "MetaSim", "", "convolved", "", "predicted", ""];
    map(["\(.program) \(.kind | kind_word)", "\(.size)", (.same_code | percent), (.there | ms), (.here | ms), "\(.low | ms) to \(.high | ms)", (.ratio.executed | ratio)]
        + [ratio_names[] as $name | (.ratio[$name] | ratio), (ratio_error($name) | error)])
    + [["mean of sizes of errors", "", "", "", "", "", ""] + [. as $rows | ratio_names[] as $name | "", ($rows | off($name) | mean_error)]]);

def where_word: {here: "Open MPI", smpirun: "smpirun"}[.];
def head: ["\(.program) \(.kind | kind_word)", "\(.size)", "\(.ranks)", (.where | where_word), (.executed | ms)];
def columns(pairs): head + [pairs as [$ratio, $network] | (seconds_by($ratio; $network) | if . == null then "?" else ms end), (by_error($ratio; $network) | error)];
def means($rows; pairs): [["mean of sizes of errors", "", "", "", ""] + [pairs as [$ratio, $network] | "", ($rows | by_off($ratio; $network) | mean_error)]];
def parallel_table(names; pairs): . as $rows | table(["program", "N", "ranks", "executed by", "executed"] + [names | ., "error"];
    map(columns(pairs)) + means($rows; pairs));

# What the first two rows are worth, where peak rates hardly differ.
def alike: .[0].ratio.peak as $peak | [.[].ratio.executed]
    | "By peak rates B is \($peak | ratio) times as fast as A; programs ran \(min | ratio) to \(max | ratio) times as fast, the median \(median | ratio)."
        + (if $peak != null and $peak > 0.8 and $peak < 1.25
           then " The paper’s machines differ by 2.5 in peak rates (600 and 1500 MFLOP/s). Of machines as alike as these a ratio near 1 is\nnot far off for most programs, whatever it stands for: see the programs that ran otherwise, below."
           else "" end), "";

def combinations: ["peak", "peak"], ["metasim", "peak"], ["metasim", "pattern"], ["predicted", "pattern"];

def peaks_page($cpu; $other): . as $all | part("processor") as $processors | part("parallel") as $parallel |
    "# Peak rates beside convolved ones",
    "",
    "Written by `bench/accuracy/time/peaks.sh` (`make validate`). Snavely, Wolter and Carrington (2001) carry what machine A executed over to machine B (their Figures 6 to 8): computation by a",
    "*processor ratio*, of peak rates or of what the machines’ signatures say of the program (their MetaSim numbers, equation 1); messages by the *network*, as a ping-pong finds it at",
    "most, or as messages of the program’s sizes find it in its pattern. Here A is \($other), described in `machines/measured/`, and B this machine, \($cpu).",
    "",
    "| combination | mean error | in the paper |", "|---|---|---|",
    "| peak ratio, peak network | \($parallel | by_off("peak"; "peak") | mean_error) | 51% |",
    "| MetaSim ratio, peak network | \($parallel | by_off("metasim"; "peak") | mean_error) | 44% |",
    "| MetaSim ratio, network of the pattern | \($parallel | by_off("metasim"; "pattern") | mean_error) | 23% |",
    "| ratio of predicted times, network of the pattern | \($parallel | by_off("predicted"; "pattern") | mean_error) | |",
    "| ratio as executed, peak network | \($parallel | by_off("executed"; "peak") | mean_error) | |",
    "| ratio as executed, network of the pattern | \($parallel | by_off("executed"; "pattern") | mean_error) | |",
    "",
    ($processors | alike),
    "## Processors (as Figure 6, without a network)",
    "",
    "Sequential programs of the same code on both machines (the share of their innermost loops that is known to be; from nine tenths on), by a clock: on A once, when it was there (`bench/accuracy/machines/measured.sh`), here the median of some processes one after the other, and the shortest and the longest of them (what neighbours of a guest do to its last cache changes slower than that). Ratio: how many times as fast",
    "B is. *peak*: of the widest multiply-adds, by the machine files. *MetaSim*: of the paper’s means of rates; *convolved*: of the sums of times that `pmodel report --as convolution --by-loops` has, which know nothing of arithmetic.",
    "*predicted*: of the times of `pmodel report`. All from counts at small sizes (`docs/time.md`). Behind each ratio stands the error of the time that it makes of A’s for B. `?`: a machine file does not say.",
    "",
    ($processors | processors_table),
    "",
    "## Networks (as Figures 7 and 8)",
    "",
    "What ranks compute is as B executed it, so that only the network differs. On 1 and 2 ranks B executed the program with Open MPI: the",
    "fastest process, whose ranks’ time outside MPI is the trace’s computation. **On more ranks B’s network is a simulation, `machines/networks/switch-10g.xml`, and the program was executed by `smpirun` on it, all",
    "ranks in turn on one core; no network of that size was there.** Peak: latency of the smallest message and bandwidth of the largest of a ping-pong (`pmodel probe --network --peak`). Pattern: `pmodel probe",
    "--network --trace`, at the program’s sizes, on as many ranks. Both networks let no message wait for another; what there is of that is in the pattern’s times.",
    "",
    ($parallel | parallel_table("peak", "pattern"; ["executed", "peak"], ["executed", "pattern"])),
    "",
    "## Both (Figures 6 to 8)",
    "",
    "A executed none of the parallel programs. Its trace is made of B’s: computation times the ratio that the sequential program of the same size executed on both, whatever the number of ranks. So these errors",
    "are those of the ratios above and of the networks above together, over numbers of ranks; they do not say how the ratio itself changes when each rank has less data.",
    "",
    ($parallel | parallel_table("peak, peak", "MetaSim, peak", "MetaSim, pattern", "predicted, pattern"; combinations)),
    "",
    "## For a program of your own",
    "",
    "`pmodel replay` has the three ratios with `--against`, or takes one by hand with `--ratio`; `pmodel probe --network` has the networks: `man pmodel-replay`, THE PAPER'S COMPARISON.";
