# Figures and page of bench/accuracy/time/convolve.sh, from one object for each program and size.

def error($key): (.[$key] - .measured) / .measured;
def size_of_error($key): error($key) | fabs;
def mean: if length == 0 then null else add / length end;
def median: sort | if length == 0 then null elif length % 2 == 1 then .[length / 2 | floor]
    else (.[length / 2 - 1] + .[length / 2]) / 2 end;
# Most of its references are in basic blocks within the paper's domain.
def in_domain: .domain >= 0.5;

def figures:
    . as $all | map(select(in_domain)) as $inside |
    [{name: "convolution_mean", value: ($inside | map(size_of_error("blocks")) | mean)},
     {name: "convolution_worst", value: ($inside | map(size_of_error("blocks")) | max)},
     {name: "convolution_in_domain", value: ($inside | length)},
     {name: "convolution_by_loops_mean", value: ($inside | map(size_of_error("loops")) | mean)},
     {name: "convolution_all_mean", value: ($all | map(size_of_error("blocks")) | mean)},
     {name: "convolution_all_worst", value: ($all | map(size_of_error("blocks")) | max)},
     {name: "simple_time_median", value: ($all | map(size_of_error("simple")) | median)},
     {name: "window_time_median", value: ($all | map(size_of_error("window")) | median)},
     {name: "signature_time_median", value: ($all | map(size_of_error("signature")) | median)},
     {name: "simple_time_worst", value: ($all | map(size_of_error("simple")) | max)},
     {name: "window_time_worst", value: ($all | map(size_of_error("window")) | max)},
     {name: "signature_time_worst", value: ($all | map(size_of_error("signature")) | max)}];

def percent: if . == null then "?" else . * 100 | round | "\(.)%" end;
def signed: if . == null then "?" else . * 100 | round | if . > 0 then "+\(.)%" else "\(.)%" end end;
def figure($name): .[] | select(.name == $name) | .value;

def page($cpu):
    . as $all | figures as $f |
    "# Signatures convolved with programs, against a clock",
    "",
    "Written by `bench/accuracy/time/convolve.sh`. On \($cpu), with the curves that `pmodel probe` measured there: the programs of `bench/apps/`, at three sizes each.",
    "Errors are those of predicted time; that of MFLOP/s follows, since operations are counted. The clock is CPU time of the plain program, the median of three.",
    "",
    "- *blocks*: `pmodel report --as convolution` of the profile of basic blocks, with simulated caches, the sum of times; *loops*: the same from reuse distances. Neither knows of arithmetic, by",
    "  the paper’s memory-bound rule, so that outside its domain they are lower bounds.",
    "- *(2)*: the paper’s mean of rates, as it stands.",
    "- *simple*, *window*, *signature*: `pmodel report --time` with the same counts: schedule, and what misses add by the papers’ formula, by the simulated window, by the curves.",
    "- *domain*: the share of the references in basic blocks with at least one memory operation for four floating-point ones and a tenth of them random. A program is inside from a half on.",
    "",
    "| inside the paper’s domain | |", "|---|---|",
    "| programs and sizes | \($f | figure("convolution_in_domain")) of \($all | length) |",
    "| mean error, blocks (the paper: at most 20%) | \($f | figure("convolution_mean") | percent) |",
    "| worst | \($f | figure("convolution_worst") | percent) |",
    "| mean error, loops | \($f | figure("convolution_by_loops_mean") | percent) |",
    "",
    "| all programs and sizes | median error | worst |", "|---|---|---|",
    (("simple", "window", "signature") | "| `--time \(.)` | \(. as $m | $f | figure("\($m)_time_median") | percent) | \(. as $m | $f | figure("\($m)_time_worst") | percent) |"),
    "| convolution of blocks, mean | \($f | figure("convolution_all_mean") | percent) | \($f | figure("convolution_all_worst") | percent) |",
    "",
    "| program | N | domain | clock | MFLOP/s | (2) MFLOP/s | blocks | loops | simple | window | signature |",
    "|---|---|---|---|---|---|---|---|---|---|---|",
    ($all[] | "| \(.name) | \(.size) | \(.domain | percent) | \(.measured * 1e4 | round / 10) ms | \(.flops / .measured / 1e6 | round) | \(.mean_mflops | round) | \(error("blocks") | signed) | \(error("loops") | signed) | \(error("simple") | signed) | \(error("window") | signed) | \(error("signature") | signed) |");
