# From the lines of bench/accuracy/counts/lifting.sh, an array of {name, options, with_metadata, plain, stripped: {routines,
# agree, tables, tables_equal, differ: [{name, cause, at}]}, strides}, to figures and to docs/lifting.md.

def total(f): map(f) | add // 0;
def share(part; whole): if whole == 0 then null else part / whole end;
def percent: if . == null then "-" elif . == 1 then "100%" else "\(. * 10000 | floor / 100)%" end;
def row: "| " + join(" | ") + " |";
def table(header; rows): ([header, ["---"] + [header[1:][] | "---:"]] + rows | map(row) | join("\n"));

def causes(side): [.[] | side.differ[].cause] | group_by(.) | map("\(.[0]): \(length)") | join(", ");
def agreement(side): share(total(side.agree); total(side.routines));
def strides_share: share(total(.strides.equal); total(.strides.equal) + total(.strides.different));

def figures(traces): . as $all
    | [{name: "cfg_agreement_metadata", value: agreement(.with_metadata), target: 1},
       {name: "cfg_agreement_plain", value: agreement(.plain), target: 0.99},
       {name: "cfg_agreement_stripped", value: agreement(.stripped), target: 0.99},
       {name: "strides_agreement", value: strides_share, target: 0.97},
       {name: "strides_right_by_trace",
        value: (traces | share(total(.counts.steps) - total(.counts.compiler_wrong) - total(.counts.binary_wrong);
            total(.counts.steps))), target: 0.99}]
    | map(. + {unit: "fraction", holds: (.value != null and .value >= .target)});

# What must never be.
def problems(traces): [
    (.[] | "\(.name) with \(.options): " as $where
        | (.with_metadata.differ[] | $where + "\(.name) differs with metadata: \(.cause) at \(.at)"),
          (.plain, .stripped | select(.tables != .tables_equal) | $where + "a jump table has other targets"),
          (.plain.differ[], .stripped.differ[] | select(.cause == "other" or .cause == "not lifted")
              | $where + "\(.name) differs for no named cause at \(.at)")),
    (traces[] | .name as $name | .lines[] | select(test("not explained")) | "trace of \($name): \(.)")];

def option_row: [.[0].options, (total(.plain.routines) | tostring), (agreement(.with_metadata) | percent),
    (agreement(.plain) | percent), (agreement(.stripped) | percent),
    "\(total(.plain.tables_equal)), \(total(.stripped.tables_equal)) of \(total(.plain.tables))",
    "\(strides_share | percent) of \(total(.strides.equal) + total(.strides.different))"];

def trace_row: .counts as $c | [.name, .arguments, "\($c.steps)", "\($c.both_right)", "\($c.only_compiler)",
    "\($c.only_binary)", "\($c.both_silent)", "\($c.compiler_wrong)", "\($c.binary_wrong)"];

def page(traces):
"# How far lifting can be trusted

Written by `make validate`. The programs of `tests/corpus` and `bench/apps` are built with GCC and the plugin, with the
options in the first column, and lifted three times: with the compiler's metadata, ignoring it, and from a copy that was
stripped of metadata and symbols. Each routine's control-flow graph is compared with the compiler's final one (`pmodel
loops --check`): block starts and successor sets must be equal, in a form that `binlift/metadata/check_graph.c` defines. Jump tables
count as equal if they have the same set of targets; the two figures are those of the plain and of the stripped lift. Strides are
compared for each reference in each loop around it where both the compiler and the code alone tell one.

" + table(["options", "routines", "with metadata", "plain", "stripped", "jump tables", "strides"];
    [group_by(.options)[] | option_row]) + "

Over all: \(agreement(.plain) | percent) of \(total(.plain.routines)) routines plain, \(agreement(.stripped) | percent) stripped.

## What differs

Plain: \(causes(.plain)). Stripped: \(causes(.stripped)).

`computed goto`: the program jumps to labels whose addresses it has taken. Without optimisation the code may not show which; the
routine is then marked as partial. Or the code shows that only some of the labels can be meant, where the compiler lists all. `callee found to stop`: the lifter sees that a routine never returns, the compiler did not look into it; here the
lifter knows more. `call that never returns`: the other way round. `cold part`: without symbols it is not always seen whose cold part a piece
of code is.

" + table(["routine", "program", "cause", "plain", "stripped"];
    [[.[] as $p | ($p.plain.differ[] | {name, cause, program: $p.name, side: "plain"}),
        ($p.stripped.differ[] | {name, cause, program: $p.name, side: "stripped"})]
     | group_by([.program, .name, .cause])[]
     | [(.[0].name | if length > 60 then .[:60] + "…" else . end | gsub("\\|"; "/")), .[0].program, .[0].cause,
        (map(select(.side == "plain")) | length | tostring), (map(select(.side == "stripped")) | length | tostring)]]) + "

The last two columns are with how many of the options.

## Strides and a trace

For the applications a trace by valgrind's lackey decides (`tests/truth/check_strides.c`): for each reference and each loop around
it, how the address really moves from one iteration to the next.

" + table(["program", "arguments", "reference and loop", "both right", "only compiler tells", "only code tells", "neither tells",
    "compiler wrong", "code wrong"]; [traces[] | trace_row]) + "

" + ([traces[] | select(.lines != [""] and .lines != []) | .name as $name
      | "`\($name)`:\n\n" + (.lines | map("    " + (sub("^ *"; "") | gsub("/[^ ]*/"; ""))) | join("\n"))]
     | if length == 0 then "No claim is wrong." else "Wrong claims, with the cause in parentheses. `several`: jump threading made a loop of which one iteration holds several of the source\u0027s. `irreducible`: the nest holds a region with several entries, which the compiler does not call a loop, so that levels do not correspond.\n\n" + join("\n\n") end);
