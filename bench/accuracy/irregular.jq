# From the results of bench/accuracy/irregular.sh, an array of {kind, fit, loop, sizes}, to a figure and to a part
# of docs/validation.md.

include "validation";
include "validation_words" {search: "../lib"};

# The errors of a size's misses, of all caches.
def errors(bytes): [comparisons("misses"; bytes) | .error | magnitude];

# The same of the loop with the random accesses, in caches where it has misses enough.
def loop_errors_of(loop; bytes): . as $size
    | [range(0; .rows | length) | select($size.rows[.].label == loop)] as $rows
    | [comparisons("misses"; bytes) | .rows[] | select(.row as $row | $rows | index($row)) | select(.large)
       | .error | magnitude];

def irregular_figures: [[.[] | .sizes[] | errors(64, 4096)] | flatten
    | figure("misses_irregular_worst"; 0.15; max)];

# Of 80% intervals of misses, how many hold what was measured.
def inside: [.comparisons[] | select(.quantity == "misses" and .measured > 0)]
    | "\(map(select(.low <= .measured * (1 + 1e-6) and .high >= .measured * (1 - 1e-6))) | length) of \(length)";

def worst: if . == [] then "-" else max | percent end;

def irregular_table: table(
    ["kind", "N", "accesses", "lines: median", "worst", "loop: worst", "pages: median", "worst", "loop: worst", "inside 80%"];
    [.[] as $kind | $kind.sizes[] | . as $size
     | [$kind.kind, "\(.parameters.N)", (comparisons("accesses"; null) | .error | signed)]
       + [(64, 4096) as $bytes | $size | (errors($bytes) | (median | percent), worst),
          (loop_errors_of($kind.loop; $bytes) | worst)]
       + [inside]]);

def irregular_section: if length == 0 then "" else
"## Random accesses

The kinds of `bench/apps/irregular`, fitted at N = \(.[0].fit | gsub(" "; ", ")), at four and sixteen times the
largest size: errors of the program's misses over all caches, and of the loop that has the random accesses (in caches where it
has 1% of the misses).

" + irregular_table + "

" end;
