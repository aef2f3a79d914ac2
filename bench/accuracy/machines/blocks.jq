# Basic blocks: measured and predicted cycles, and the page docs/blocks.md.  From what `pmodel loops --schedule --blocks` predicts to
# rows, figures and the page.
include "validation_words" {search: "../../lib"};

def same: 1.02;

# The least of several figures that another one repeats; null: none is repeated.
def least_repeated: sort | . as $all | [range(length - 1) | select($all[. + 1] <= $all[.] * same) | $all[.]] | first;

def key: "\(.block) \(.form)";

# Of one run what it says of each block and form, by key.
def by_key: [.blocks[] | {key: key, value: .}] | from_entries;

# A row: {block, form, apart, measured (null: not run, or it did not repeat), result, ours, bound, theirs}.
def rows($runs; $apart; $theirs): ($runs | map(by_key)) as $runs
    | ([$apart | split("\n")[] | select(. != "") | split("\t") | {key: .[0], value: (.[1] == "1")}] | from_entries) as $apart
    | ([$theirs | split("\n")[] | select(. != "") | split("\t") | {key: .[0], value: (.[1] | tonumber? // null)}] | from_entries) as $theirs
    | [.blocks[]] | unique_by(key) | map(. as $block | [$runs[][$block | key]] as $of
        | {block, form, apart: $apart[.block], ours: .predicted, bound, theirs: (if .form == "unrolled" then $theirs["\(.line)"] else null end), result: $of[0].result, pages: $of[0].pages,
           measured: (if ($of | length) == 1 then $of[0].cycles else [$of[].cycles | numbers | select(. > 0)] | least_repeated end)});

def by($by): if $by == "ours" then .ours else .theirs end;
def part($part): map(select(.apart == ($part == "apart")));
def form($form): map(select($form == "all" or .form == $form));
def judged($by): map(select(.measured != null and by($by) != null) | . + {error: ((by($by) - .measured | magnitude) / .measured)});
def pairs($part; $form; $by): part($part) | form($form) | judged($by) | .[] | "\(.measured) \(by($by))";

def share(condition): if length == 0 then null else (map(select(condition)) | length) / length end;
def quantile($q): sort | .[(length * $q | floor)];
def kendall_of($kendall; $part; $form; $by): [$kendall | split("\n")[] | select(startswith("\($part) \($form) \($by) ")) | split(" ")[3] | tonumber?] | first;

# Of one part, form and predictor.
def judgement($kendall; $part; $form; $by): part($part) | form($form) | judged($by) | map(.error)
    | {part: $part, form: $form, by: $by, blocks: length, mean: (if length > 0 then add / length else null end), median: (if length > 0 then median else null end), p90: quantile(0.9),
       kendall: kendall_of($kendall; $part; $form; $by), within_2_percent: share(. <= 0.02)};
# Of llvm-mca, which takes no branch, unrolled ones only.
def judgements($kendall): . as $rows | [("development", "apart") as $part | (("all", "unrolled", "loop") | {form: ., by: "ours"}), {form: "all", by: "theirs"}
    | .form as $form | .by as $by | $rows | judgement($kendall; $part; $form; $by) | select(.blocks > 0 and .kendall != null)];

def name_of: [if .by == "ours" then "blocks" else "blocks_llvm_mca" end] + (if .form == "all" then [] else [.form] end)
    + (if .part == "apart" then ["apart"] else [] end) | join("_");
def blocks_figures($kendall): [judgements($kendall)[] | . as $of | name_of as $name
    | ("mean", "median", "p90", "kendall", "within_2_percent") as $what | {name: "\($name)_\($what)", value: $of[$what], blocks: $of.blocks}];

# ---- the page ---------------------------------------------------------------------------------------

def value($figures; $name): $figures | map(select(.name == $name)) | first | .value;
def thousandths: . * 1000 | round / 1000 | tostring;
def figures_of($figures; $name; $what): ($figures | map(select(.name == "\($name)_mean")) | first) as $mean | select($mean != null)
    | [$what, "\($mean.blocks)", ($mean.value | percent), (value($figures; "\($name)_median") | percent), (value($figures; "\($name)_p90") | percent),
       (value($figures; "\($name)_kendall") | thousandths), (value($figures; "\($name)_within_2_percent") | percent)];
def by_bound($part): [part($part) | judged("ours")[] | select(.bound != null)] | group_by(.bound)
    | map([.[0].bound, "\(length)", (map(.error) | add / length | percent), (map(.error) | median | percent), (map(.error) | quantile(0.9) | percent)]);
def reasons($runs): [$runs[0].refused | to_entries[] | select(.value > 0) | "\(.key) \(.value)"] | if length == 0 then "none" else join(", ") end;

def page($cpu; $shipped; $figures; $runs): . as $rows
    | (map(select(.result == "ran" and .measured == null)) | length) as $unrepeated
    | "# Throughput of basic blocks", "",
      "Written by `bench/accuracy/machines/blocks.sh` on \($cpu). Basic blocks as this machine executes them (`pmodel loops --time --blocks`), each"
      + " unrolled and in a loop, beside what `\($shipped).conf` predicts (`pmodel loops --schedule --blocks`) and, where it is installed, llvm-mca 19."
      + " An error is |predicted − measured| / measured. Kendall’s τ is of the pairs that differ by more than 2% when measured. Those *apart*, a third by a"
      + " hash, chose nothing, and were looked at when a step was done only. The blocks are none of this project and not in its sources.", "",
      table(["", "rows", "mean", "median", "90th percentile", "τ", "within 2%"];
          [figures_of($figures; "blocks"; "pmodel"), figures_of($figures; "blocks_unrolled"; "… unrolled"), figures_of($figures; "blocks_loop"; "… in a loop"),
           figures_of($figures; "blocks_apart"; "pmodel, apart"), figures_of($figures; "blocks_unrolled_apart"; "… unrolled"),
           figures_of($figures; "blocks_loop_apart"; "… in a loop"),
           figures_of($figures; "blocks_llvm_mca"; "llvm-mca, unrolled"),
           figures_of($figures; "blocks_llvm_mca_apart"; "llvm-mca, unrolled, apart")]), "",
      "By what holds a block back, as it is predicted, of those that are not apart:", "",
      table(["bound", "rows", "mean", "median", "90th percentile"]; $rows | by_bound("development")), "",
      "Of \($rows | length) rows \($rows | map(select(.result == "ran")) | length) ran, and \($unrepeated) of these did not repeat in \($runs | length)"
      + " runs and are left out. Not run, by reason: \(reasons($runs)).";
