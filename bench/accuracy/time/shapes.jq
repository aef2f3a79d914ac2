# From what `pmodel report --as scaling --format json` says of each program (bench/accuracy/time/shapes.sh) to the page docs/shapes.md.
include "validation_words" {search: "../../lib"};

def predicted: [.sizes[] | . as $size | .figures[] | select(.source == "predicted") | . + {size: $size.value, unit: $size.unit}];
def three: if . == 0 then "0" elif . >= 100 then "\(round)" elif . >= 1 then two_digits else "\(. * 10000 | round / 10000)" end;

# What the time goes to, most first.
def parts: . as $f | ([{name: "schedule", cycles: .schedule_cycles}, {name: "bandwidth", cycles: .bandwidth_cycles}]
    + [.level_cycles | to_entries[] | {name: "\(.key) misses", cycles: .value}]) | sort_by(-.cycles)
    | map(. + {share: (.cycles / $f.cycles)});
def sets: . as $case | [.size, .size * .size * .size * $case.bytes / $case.cache];

def rows: . as $case | (.clean | predicted) as $clean | (.dirty | predicted) as $dirty
    | [range($clean | length) as $i | $clean[$i] as $f | ($f | parts) as $parts
       | ["\($case.name)", "\($f.size)", ($f.size | . * . * . * $case.bytes / $case.cache | two_digits), ($f.level_misses_per_unit.L1 | three), ($f.level_misses_per_unit.L2 | three),
          ($f.level_misses_per_unit.TLB | three), ($f.cycles_per_unit | three), "\($parts[0].name) \($parts[0].share | percent)", "\($parts[1].name) \($parts[1].share | percent)",
          ($dirty[$i].cycles / $f.cycles | two_digits)]];

# Where misses of a level, for a cell, first exceed the geometric mean of what they are at the smallest and the largest size.
def rise: . as $case | (.clean | predicted | map({size, misses: .level_misses_per_unit.L2})) as $all
    | ([$all[0].misses, 1e-6] | max) as $first | $all[-1].misses as $last
    | if $last < 1.5 * $first then null else ($all | map(select(.misses > ($first * $last | sqrt)))[0].size) end;
def cube_root: pow(.; 1 / 3);
def summary: . as $case | (.clean | predicted) as $all | rise as $rise
    | [.name, (.cache / .bytes | cube_root | round | tostring), (if $rise == null then "no rise" else "\($rise)" end),
       (if $rise == null then "-" else $rise | . * . * . * $case.bytes / $case.cache | two_digits end),
       ($all[-1] | .level_misses_per_unit.L2 / ([.level_misses_per_unit.TLB, 1e-9] | max) | three),
       ($all | map(.level_cycles.TLB / .cycles) | max | percent),
       ($all[0] | parts[0].name), ($all[-1] | parts[0].name)];

def page(dirty): "# Shapes on the Origin 2000",
    "",
    "Written by `bench/accuracy/time/shapes.sh`. Programs of `bench/apps` counted here at small sizes and predicted for `r12000` by the papers' formula, for each cell of their",
    "N^3 grids. Section 3.2 of Marin & Mellor-Crummey 2004 says of its figures that L2 misses rise where the working set outgrows 8 MB, that TLB misses are",
    "few, and that of the parts of the time only that of L2 misses grows with the size. These are other programs, and nobody here has the",
    "machine: what is compared are shapes, no more.",
    "",
    table(["program", "N of 8 MB", "L2 misses rise at N", "working set there / 8 MB", "L2 / TLB misses, largest", "most of the time to the TLB", "most cycles, smallest", "most cycles, largest"]; map(summary)),
    "",
    "*Rise*: the first of the sizes below at which misses of a cell exceed the geometric mean of those at the smallest and the largest.",
    "",
    "## Misses and cycles of a cell",
    "",
    "*Dirty*: the time if every L2 miss waits for a dirty line to be written back, \(dirty) cycles beyond the L2 hit (`--set L2.miss_penalty=\(dirty)`), by that with clean",
    "lines: Figure 8, curve B, of which the paper says that it explains why Sweep3D was underpredicted by 20%.",
    "",
    table(["program", "N", "working set / 8 MB", "L1 misses", "L2 misses", "TLB misses", "cycles", "most", "then", "dirty / clean"]; map(rows) | add);
