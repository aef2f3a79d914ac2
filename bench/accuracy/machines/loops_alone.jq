# From `pmodel loops --time --format json` of several files, with `file` added, to a figure and the page docs/loops-alone.md.
include "validation_words" {search: "../../lib"};

def loops_alone_figures: (map(.ran) | add) as $ran
    | [{name: "loops_run_alone", value: $ran, unit: "loops", target: 500, holds: ($ran >= 500)}];

def is_library: .file | IN("OpenBLAS", "FFTW", "GSL");

# Applications as one, then the libraries.
def parts: [{file: "example applications", of: map(select(is_library | not))}]
    + [.[] | select(is_library) | {file, of: [.]}]
    | map({file, innermost: ([.of[].innermost] | add), ran: ([.of[].ran] | add),
           distinct: ([.of[].loops[] | select(.result == "ran") | .hash] | unique | length),
           wide: ([.of[].loops[] | select(.result == "ran" and .cycles_high - .cycles_low > 0.1 * .cycles)] | length),
           refused: ([.of[].refused | to_entries[]] | group_by(.key) | map({(.[0].key): (map(.value) | add)}) | add)});

def refusals: {no_path: "no way back to the header is known", too_long: "an iteration is too long to be unrolled", calls: "calls",
    indirect_jump: "jumps through a table", string: "repeated string operation", x87: "x87 or MMX",
    system: "system, waiting or random instruction", segment: "thread-local data", beyond_reach: "code or data out of reach",
    not_here: "instructions that this processor does not have", pages: "more than 8 pages",
    address: "addresses that cannot be made up", alignment: "alignment that cannot be made up",
    divides: "divides by zero, or the quotient is too large", aliases: "loads what it stored because data are made up",
    unsteady: "other pages each time", time: "takes too long", crashed: "ends its process", stopped: "stopped"};

# Runs of one program: for each loop that always ran, its three figures.
def spreads: [.[] | [.[].loops] | transpose[] | select(all(.result == "ran"))
    | {cycles: map(.cycles), agree: ((map(.cycles_low) | max) <= (map(.cycles_high) | min))}
    | . + {spread: (((.cycles | max) - (.cycles | min)) / ([(.cycles | median), 1e-9] | max))}];

def page(cpu; runs): parts as $parts | (runs | spreads) as $spreads | ($spreads | map(.spread) | sort) as $sorted
    | "# Loops run alone",
      "",
      "Written by `make validate` (`bench/accuracy/machines/loops_alone.sh`) on \(cpu). `pmodel loops --time` runs each innermost loop of a program by itself",
      "(`machines/probe/loop_runner/README.md` says how): how many it could run, and why not the others. *Distinct*: with code of their own; of several",
      "loops with the same code one is run. *Wide*: the 80% interval is wider than a tenth of the figure.",
      "",
      table(["", "innermost loops", "run", "distinct", "wide"];
        [$parts[] | [.file, "\(.innermost)", "\(.ran) (\(.ran / .innermost | percent))", "\(.distinct)", "\(.wide)"]]
        + [["all", "\($parts | map(.innermost) | add)", "\($parts | map(.ran) | add)", "\($parts | map(.distinct) | add)", "\($parts | map(.wide) | add)"]]),
      "",
      "Of OpenBLAS, which has a copy of its kernels for each processor, these are the ones for Haswell.",
      "",
      "## Not run",
      "",
      table(["reason"] + [$parts[].file];
        [refusals | to_entries[] | .key as $key | select(any($parts[]; .refused[$key] > 0)) | [.value] + [$parts[] | "\(.refused[$key])"]]),
      "",
      "## Three runs",
      "",
      "The \($spreads | length) loops of the example applications, three times: the largest figure less the smallest, as a share of the median.",
      "",
      table(["", "difference"];
        [["median", ($sorted | median | percent)], ["90th percentile", ($sorted | .[(length * 0.9 | floor)] | percent)], ["worst", ($sorted[-1] | percent)],
         ["intervals of all three overlap", "\($spreads | map(select(.agree)) | length) of \($spreads | length)"]]);
