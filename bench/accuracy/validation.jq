# From the results of bench/accuracy/validate.sh, an array of {name, sizes: [what `pmodel validate` gives], …},
# to figures and to the page docs/validation.md.

include "validation_words" {search: "../lib"};
include "builds";

# ---- errors -------------------------------------------------------------------------------------

# The size at FACTOR (2 or 4) times the largest that was fitted; nothing if it was not measured.
def at(factor): . as $program | .sizes[]
    | select(.parameters.N == ($program.twice * factor / 2));

def comparisons(quantity; block_bytes): .comparisons[]
    | select(.quantity == quantity and .block_bytes == block_bytes);

# Of programs: one error for each program (and cache).
def program_errors(factor; quantity; block_bytes):
    [.[] | at(factor) | comparisons(quantity; block_bytes) | .error | magnitude];

# One for each program, cache, and loop with at least the least share of its misses.
def loop_errors(factor; block_bytes):
    [.[] | at(factor) | comparisons("misses"; block_bytes) | .rows[] | select(.large) | .error | magnitude];

# ---- figures ------------------------------------------------------------------------------------

# Errors to a figure; nothing where nothing was measured.
def figure(name; target; summary):
    select(length > 0) | summary as $value
    | {name: name, value: (if $value == infinite then null else $value end), unit: "fraction",
       target: target, holds: ($value <= target)};

# Of all sizes and quantities: models that are not exact, how many measured values are inside at each level.
def coverage_of(intervals): intervals | {
    exact: (map(.exact) | add // 0), right: (map(.exact_right) | add // 0), unknown: (map(.unknown) | add // 0),
    models: (map(.models) | add // 0),
    inside: (map(.levels) | add // [] | group_by(.level) | map({level: .[0].level, inside: (map(.inside) | add)}))};
def coverage: coverage_of([.[].sizes[].intervals[] | select(.quantity != "misses")]);
# The share inside at LEVEL; nothing if there is no such model.
def covered(level): coverage | select(.models > 0) | .models as $n | .inside[] | select(.level == level) | .inside / $n;

# Misses of each program's caches, lines and pages, at 2N and 4N, with the 80% interval: an array for each program.
def intervals_of_misses: [.[] | [.sizes[].comparisons[] | select(.quantity == "misses" and .measured > 0)
    | {predicted, measured, low, high,
       inside: (.low != null and .high != null and .low - 0.5 <= .measured and .measured <= .high + 0.5),
       ratio: (if .high == null or (.low // 0) <= 0 then infinite else .high / .low end)}]];
def share_inside: map(select(.inside)) as $in | ($in | length) / length;
# Off by more than a quarter, and sure of it; no interval counts as outside.
def silent: select((.predicted / .measured - 1 | magnitude) > 0.25 and (.inside | not));

def figures: [
    (intervals_of_misses | map(select(length > 0)) | select(length > 0)
        | (add | share_inside | {name: "misses_interval_coverage_80", value: ., unit: "fraction", target: [0.75, 0.90],
            holds: (. >= 0.75 and . <= 0.90)}),
          (map(share_inside) | min | {name: "misses_interval_coverage_least", value: ., unit: "fraction",
            target: [0.5, 1], holds: (. >= 0.5)}),
          (add | [.[] | silent] | length | {name: "misses_silent", value: ., unit: "caches", target: 0, holds: (. == 0)}),
          (add | map(.ratio) | median | {name: "misses_interval_ratio_median", value: (if . == infinite then null else . end),
            unit: "upper over lower end", target: 1.5, holds: (. <= 1.5)})),
    (covered(0.8) | {name: "interval_coverage_80", value: ., unit: "fraction", target: [0.75, 0.85],
        holds: (. >= 0.75 and . <= 0.85)}),
    (program_errors(2; "accesses"; null)
        | figure("accesses_program_median"; 0.005; median), figure("accesses_program_worst"; 0.02; max)),
    (program_errors(2; "misses"; 64)
        | figure("misses_program_median"; 0.015; median), figure("misses_program_worst"; 0.08; max)),
    (program_errors(4; "misses"; 64)
        | figure("misses_program_median_4n"; 0.05; median), figure("misses_program_worst_4n"; 0.15; max)),
    (loop_errors(2; 64) | figure("misses_loop_median"; 0.02; median)),
    (program_errors(2; "misses"; 4096)
        | figure("misses_pages_median"; 0.04; median), figure("misses_pages_worst"; 0.12; max))];

# ---- the page -----------------------------------------------------------------------------------

def figures_table: table(["figure", "value", "target", ""];
    [.[] | (.unit == "fraction") as $share
     | def text: if . == null then "inf" elif $share then percent elif . == floor then "\(.)" else two_digits end;
       [(.name | code), (.value | text),
      (.target | if type == "array" then map(text) | join(" to ") else text end), if .holds then "holds" else "does not hold" end]]);

# One line a program: its errors at FACTOR times the largest size.
def overview(factor): table(
    ["program", "N", "basic blocks exact", "accesses", "misses: median", "worst", "loops: median", "pages: median", "worst"];
    [.[] | . as $program | at(factor) as $size | [$program] as $one | [
        .name, ($size.parameters.N | tostring),
        "\($size.basic_blocks.exact) of \($size.basic_blocks.executed)",
        ($size | comparisons("accesses"; null) | .error | signed),
        ($one | program_errors(factor; "misses"; 64) | (median | percent), (max | percent)),
        ($one | loop_errors(factor; 64) | if length == 0 then "-" else median | percent end),
        ($one | program_errors(factor; "misses"; 4096) | (median | percent), (max | percent))]]);

# The errors of misses beside those of the paper's own partition: median and worst, lines and pages.
def literal_row(factor): . as $program | at(factor) as $size
    | [., .sizes = .literal]
    | [$program.name, ($size.parameters.N | tostring)]
      + [(64, 4096) as $bytes | .[] | [.] | program_errors(factor; "misses"; $bytes)
         | if length == 0 then "-" else "\(median | percent), \(max | percent)" end];
def literal_table: table(
    ["program", "N", "lines: gaps", "sigmetrics", "pages: gaps", "sigmetrics"];
    [.[] | literal_row(2), literal_row(4)]);

# How many measured counts lie inside the intervals of their models, over both sizes.
def intervals_row(name): coverage | .models as $n
    | [name, "\(.exact)", "\(.right)", "\($n)"]
      + [.inside[] | if $n == 0 then "-" else .inside / $n | percent end] + ["\(.unknown)"];
# The same of the program's misses: sums over many models, one for each cache.
def misses_cells: coverage_of([.[].sizes[].intervals[] | select(.quantity == "misses")]) | .models as $n
    | ["\($n)"] + [.inside[] | if $n == 0 then "-" else .inside / $n | percent end];
def silent_cells: intervals_of_misses | add // [] | if length == 0 then ["-", "-"] else
    ["\([.[] | silent] | length)", (map(.ratio) | median | if . == infinite then "inf" else two_digits end)] end;
def intervals_table: table(["program", "exact", "right", "others", "in 50%", "in 80%", "in 95%", "unknown",
    "caches", "misses in 50%", "in 80%", "in 95%", "silent", "ratio"];
    [.[] | .name as $name | [.] | intervals_row($name) + misses_cells + silent_cells]
    + [intervals_row("all") + misses_cells + silent_cells]);

def pair(cell): if cell == null then "-" else cell.error | signed end;

# Misses by cache size: twice with the figures, four times and pages with the errors.
def misses_table: . as $program
    | [at(2)] as $twice | [at(4)] as $four
    | table(["blocks", "predicted at 2N", "measured", "error", "loops: median", "worst", "error at 4N", "pages at 2N", "at 4N"];
        [($twice[], $four[]) | [comparisons("misses"; 64) | .cache_blocks]] | .[0] // []
        | [.[] as $blocks
           | def cell(size; bytes): [size[] | comparisons("misses"; bytes) | select(.cache_blocks == $blocks)][0];
             cell($twice; 64) as $here
             | ["\($blocks)"]
               + (if $here == null then ["-", "-", "-", "-", "-"]
                  else [($here.predicted | count), ($here.measured | count), ($here.error | signed),
                        (if $here.loops.n == 0 then "-" else $here.loops.median | percent end),
                        (if $here.loops.n == 0 then "-" else $here.loops.worst | percent end)] end)
               + [pair(cell($four; 64)), pair(cell($twice; 4096)), pair(cell($four; 4096))]]);

# The loops where most of the error is: of those with the least share at some cache, the misses that
# are predicted wrongly, summed over the caches, as a share of the program's misses.
def worst_loops: [at(2)][0] as $size
    | if $size == null then [] else
        [$size | comparisons("misses"; 64)] as $caches
        | ([$caches[].measured] | add) as $whole
        | [range(1; $size.rows | length) as $r
           | [$caches[] | .rows[$r - 1] | select(.large)] as $pairs
           | select($pairs | length > 0)
           | {label: $size.rows[$r].label, file: $size.rows[$r].file, line: $size.rows[$r].line_first,
              off: ([$pairs[] | (.predicted - .measured) | magnitude] | add / $whole),
              median: ([$pairs[] | .error | magnitude] | median)}]
        | sort_by(-.off) | .[:3] | map(select(.off >= 0.0005))
      end;

def worst_loops_text: worst_loops
    | if length == 0 then "No loop's misses are off by as much as 0.05% of the program's."
      else "Misses predicted wrongly, of all caches together, as a share of the program's: "
           + (map("\(.label | code) (\(.file // "?" | split("/") | last):\(.line // "?")) \(.off | percent)") | join(", ")) + "." end;

def program_section:
    "## \(.name)\n\nFitted at N = \(.fit | gsub(" "; ", ")), arguments \(.run | code): "
    + "\(.fitted.models) models, \(.fitted.exact) exact, \(.fitted.flagged) flagged.\n\n"
    + ([at(4)] as $four | if $four == [] then "Four times the largest size was not measured: it needs more than the time limit.\n\n" else "" end)
    + misses_table + "\n\n" + worst_loops_text + "\n";

def cachegrind_row: . as $program | [at(2)][0] as $size | .cachegrind as $c
    | [$size | select(. != null) | comparisons("misses"; 64) | select(.cache_blocks == 512)][0] as $ours
    | ([$size | select(. != null) | comparisons("accesses"; null)][0]) as $accesses
    | def versus(theirs): if theirs == null or $ours == null then "-" else (($ours.measured - theirs) / theirs | signed) end;
      [.name, "\($c.size)",
       (if $accesses then $accesses.measured | count else "-" end), ($c.ways_8.refs | if . then count else "-" end),
       (if $ours then $ours.measured | count else "-" end),
       ($c.ways_512.misses | if . then count else "-" end), versus($c.ways_512.misses),
       ($c.ways_8.misses | if . then count else "-" end), versus($c.ways_8.misses)];

def cachegrind_table: table(
    ["program", "N", "accesses", "cachegrind", "misses", "cachegrind, 512 ways", "off by", "8 ways", "off by"];
    map(cachegrind_row));

def page(cpu; figures; irregular; builds):
"# How far off predictions are

Written by `make validate` on \(cpu). Sizes and compiler flags are those of `bench/apps/sizes.conf`. Each
program is measured at small sizes (N is the largest of them); the models of these predict 2N and 4N, which are then measured,
too. Misses are those of fully associative LRU caches of 64 to 131,072 blocks (powers of two), of 64 bytes or, as
pages, of 4096; cold misses are included, so that in caches that hold all data little else is left. Errors are relative to
what was measured. Loops are those with at least 1% of the program's misses in the cache in question.

" + (figures | figures_table) + "

Medians and worst cases are over all programs, cache sizes and, for loops, loops.

## Twice the largest size

" + overview(2) + "

## Four times

" + overview(4) + "

## The paper's own partition

Median and worst error of the misses over all caches, by the models of `pmodel fit` and by those of `PM_FIT_WITHOUT=partition
pmodel fit`, which cuts histograms as section 2.3.2 of the SIGMETRICS paper says, with coefficients that are not negative; the
same measurements, executions and accesses.

" + literal_table + "

## Prediction intervals

Counts of edges, touches of blocks by reference groups, and cold ones among them, at 2N and 4N. Exact models give one number, which
is right or not; for the others, the share of the measured numbers that lie inside the interval that should hold 50, 80 or
95% of them. Unknown: a model of too few sizes, which has no interval. Then the program's misses, in lines and in pages, of each
cache, whose intervals come from the models that were made without the largest sizes; last, in how many caches the misses are off by
more than 25% and outside the interval of 80%, and the median of its upper over its lower end.

" + intervals_table + "

" + irregular + (map(program_section) | join("\n")) + "
" + (builds | if length > 0 then builds_page + "\n\n" else "" end) + "## Against cachegrind

Misses at 2N in a first level of 32 KiB with lines of 64 bytes, measured by pmodel (512 blocks, fully associative) and by
cachegrind, which is given the same cache twice: with one set of 512 ways, which is the same model, and with 8 ways, as
processors have it; where these two differ, it is conflict misses. `off by` says how far pmodel is from each. Cachegrind's
figures are those of the program's own code, with what push, pop, call and ret access, and one access for each element of a
vector that a fused multiply-add reads from memory. Accesses of shared libraries (the Fortran runtime) go through
cachegrind's cache, and are unseen by pmodel; what memset, memcpy and their like access, cachegrind counts in the library, pmodel
where they are called.

" + cachegrind_table;
