# What bench/accuracy/counts/profile.sh makes of its runs.

def geometric: map(log) | add / length | exp;
def figure($name; $unit; $limit; holds): {name: $name, value: ., unit: $unit, limit: $limit, holds: (if . == null then false else holds end)};

# ---- strides --------------------------------------------------------------------------------------

# The class of a reference that moves by so many bytes, of so many bytes, alone.
def class_of($stride; $bytes): ($stride | fabs) as $s
    | if $s == 0 then 0 elif $s <= $bytes then 1 elif $s <= 2 * $bytes then 2 elif $s <= 4 * $bytes then 4 elif $s <= 8 * $bytes then 8
      else 9 end;

# Innermost loops of one basic block whose groups all have one size of access, and a stride: shares by class.  Their profile must have no
# larger strides than these: an address has the one of the execution before in its window, if the window is that long.
def compiler_loops($loops):
    [$loops.scopes[] | select(.kind == "loop" and (.groups // [] | length > 0) and .basic_blocks == 1)
        | select([.groups[] | .bytes_min == .bytes_max and (.strides_innermost_first | length > 0)] | all)
        | {key, references: ([.groups[] | .loads + .stores] | add), shares: [.groups[]
            | (.strides_innermost_first[0] | if type == "object" then (if .kind == "constant" then .bytes else null end) elif type == "number" then . else null end) as $stride
            | {class: (if $stride == null then 9 else class_of($stride; .bytes_min) end), n: (.loads + .stores)}]}];

def up_to($class): if $class == 0 then .stride_0 elif $class == 1 then .stride_0 + .stride_1
    elif $class == 2 then .stride_0 + .stride_1 + .stride_2 elif $class == 4 then .stride_0 + .stride_1 + .stride_2 + .stride_4
    else 1 - .stride_random end;

# A loop's first iterations have nothing before: an entry in twenty of executions may be one.
def strides($loops): compiler_loops($loops) as $known
    | [.blocks[] | select(.executions > 0) | . as $block | $known[] | select(.key == $block.key and .references * $block.executions == $block.references)
        | . as $loop | {share: $block.share, wide: ($loop.references <= 8),
            short: ([[0, 1, 2, 4, 8][] as $class | (([$loop.shares[] | select(.class <= $class) | .n] | add // 0) / $loop.references)
                - ($block | up_to($class))] | max)}];

# ---- a program ------------------------------------------------------------------------------------

def accuracy($name; $size; $cachegrind; $by_hand; $loops):
    .total as $total | {
        name: $name, size: $size, references: $total.references, cachegrind: $cachegrind.accesses,
        first: $total.hits[0].misses, first_by_cachegrind: $cachegrind.first,
        last: $total.hits[1].misses, last_by_cachegrind: $cachegrind.last,
        short_window_share, by_hand: $by_hand, strides: strides($loops)};

def points($a; $b): 100 * (.[$a] - .[$b]) / .references;

def profile_figures: [
    (map(points("first"; "first_by_cachegrind") | fabs) | max | figure("profile_first_level_points"; "percentage points"; 0.1; . <= 0.1)),
    (map(points("last"; "last_by_cachegrind") | fabs) | max | figure("profile_last_level_points"; "percentage points"; null; true)),
    (map(.by_hand[] | (.counted - .by_hand) / .by_hand | fabs) | max | figure("profile_operations_error"; "ratio"; 0; . == 0)),
    (map(.strides[] | select(.wide)) | (map(select(.short <= 0.05) | .share) | add) / (map(.share) | add)
        | figure("profile_strides_as_the_compilers"; "ratio"; null; true))];

def profile_costs: [
    (map(.profiled / .plain) | geometric | figure("profile_over_native"; "ratio"; 10; . <= 10)),
    (map(.profiled / .plain) | max | figure("profile_over_native_worst"; "ratio"; null; true))];

# ---- the page -------------------------------------------------------------------------------------

def digits($n): if . == null then "?" else . * pow(10; $n) | round / pow(10; $n) | tostring end;

def page($cpu; $machine; $costs; $figures): . as $programs
    | "# Profiles of basic blocks, checked",
      "",
      "Written by `bench/accuracy/counts/profile.sh` on \($cpu). What `pmodel run --profile` (pmodel-show-profile(1)) has of the example applications, built for x86-64-v3, at",
      "the sizes `in_l2` of `bench/apps/sizes.conf`, beside what is independent of it.",
      "",
      "| figure | value | limit | holds |",
      "|---|--:|--:|---|",
      ($figures[] | "| `\(.name)` | \(.value | digits(3)) \(.unit) | \(.limit // "" | tostring) | \(if .holds then "yes" else "no" end) |"),
      "",
      "## Misses",
      "",
      "Of a cache of 32 KiB with 8 ways, and behind it one of 1 MiB with 16, lines of 64 bytes, LRU; by cachegrind those of the program's own code and of",
      "`memset` and its like. Points: the difference of the hit rates, over the references of the profile.",
      "",
      "| program | N | references | cachegrind's | L1 misses | cachegrind's | points | L2 misses | cachegrind's | points |",
      "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
      ($programs[] | "| \(.name) | \(.size) | \(.references) | \(.cachegrind) | \(.first) | \(.first_by_cachegrind) | \(points("first"; "first_by_cachegrind") | digits(3)) | \(.last) | \(.last_by_cachegrind) | \(points("last"; "last_by_cachegrind") | digits(3)) |"),
      "",
      "What differs by nature: cachegrind takes the memory operand of a packed multiply-add for as many loads as it has elements, so that its references are",
      "more; its last level holds code, too, and is asked for both lines of an access that crosses one and misses; libraries and the dynamic linker touch lines in between, which",
      "the profile does not see; and memory does not begin at the same addresses.",
      "",
      "## Operations",
      "",
      "| program | loops | by hand | counted | expected |",
      "|---|---|---|--:|--:|",
      ($programs[] | .name as $name | .by_hand[] | "| \($name) | \(.loop) | \(.expected) | \(.counted) | \(.by_hand) |"),
      "",
      "The other programs' loops were not counted by hand.",
      "",
      "## Strides",
      "",
      "Innermost loops of one basic block whose strides the compiler or the code says. A reference finds its own address of the execution before in the window if the",
      "basic block has no more references than that; others may be nearer. So no class of smaller strides may have less than the compiler's strides give it, but for first",
      "iterations, which have nothing before: 0.05, so that loops of fewer than 20 iterations fall out (rows of `cg`, blocks of `matmul_blocked`, small grids of `multigrid`, `sweep`).",
      "Loops of more than 8 references are beyond the window, and not expected to: their streams look random, as the note of `pmodel show --as profile` says, unless `--stride-window` is larger.",
      "",
      "| program | loops | their share of the references | as the compiler's | loops of more than 8 references | as the compiler's |",
      "|---|--:|--:|--:|--:|--:|",
      ($programs[] | (.strides | map(select(.wide))) as $in | (.strides | map(select(.wide | not))) as $out
        | "| \(.name) | \($in | length) | \($in | map(.share) | add // 0 | digits(3)) | \($in | map(select(.short <= 0.05)) | length) | \($out | length) | \($out | map(select(.short <= 0.05)) | length) |"),
      "",
      "## Cost",
      "",
      "CPU time over the plain program's, strides and the caches of `\($machine)` simulated, at the sizes `beyond_llc`; the least of some rounds.",
      "",
      "| program | plain, s | profiled, s | ratio |",
      "|---|--:|--:|--:|",
      ($costs[] | "| \(.name) | \(.plain | digits(3)) | \(.profiled | digits(3)) | \(.profiled / .plain | digits(1)) |");
