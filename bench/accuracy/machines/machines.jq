# From machines as JSON, and what machines/checks/llvm-mca.sh --summary says of them, to the page docs/machines.md.
include "validation_words" {search: "../../lib"};

# "[1] a; [2] b; zen4: [1] c" as {"[1]": "a", "[2]": "b", "zen4 [1]": "c"}.
def sources_by_name: reduce ((. // "") | splits("; (?=(\\S+: )?\\[\\d+\\] )")) as $one ({of: "", named: {}};
    ($one | capture("^((?<of>\\S+): )?(?<n>\\[\\d+\\]) (?<text>.*)$")) as $c
    | .of = ($c.of // .of) | .named[(if .of == "" then "" else .of + " " end) + $c.n] = $c.text) | .named;

# The first source that a figure names: "zen4 [2]" of "zen4 [2], [3]; else …".
def first_source: if .unverified then "unverified" else (.source // "") | capture("^(?<first>([^\\[ ]+ )?\\[\\d+\\])").first? // "not named" end;

def is_ours: test("measured on an? .* guest|pmodel probe");

# Of `pmodel machines NAME --format json`: how many figures come from whom, most first.
def figures_by_source: (.sources | sources_by_name) as $named
    | [.figures[] | first_source] | group_by(.) | map({source: .[0], n: length, text: ($named[.[0]] // null)})
    | sort_by(-.n) | map(. + {kind: (if .source == "unverified" then "guessed, or of a neighbour" elif .text == null then "not named" elif .text | is_ours then "measured by this project" else "taken over" end)});

# From `pmodel machines NAME --format json`: what the page says of it.  `llvm`: the summary, or null.
def machine_row(llvm): {name, title, figures: (.figures | length), sourced: ([.figures[] | select(.source and (.unverified | not))] | length),
    unverified: ([.figures[] | select(.unverified)] | length),
    rows: (.costs | length), unverified_rows: ([.costs[] | select(.unverified != [])] | length), by_source: figures_by_source, llvm: llvm};

def is_explained: .llvm | .agreeing_or_explained == .rows and .not_listed == [] and .gone == [];

def machines_figures: [.[] | select(.llvm.counted) | (.llvm.agreeing / .llvm.rows) as $share
    | {name: "machine_rows_agreeing_\(.name)", value: $share, unit: "fraction", target: 0.9, holds: ($share >= 0.9 and is_explained)}];

def of(part; whole): "\(part) (\(if whole == 0 then 0 else part / whole end | percent))";

def page: machines_figures as $figures
    | "# Machine files",
      "",
      "Written by `make validate` (`bench/accuracy/machines/machines.sh`). Each figure of a machine file has a source, or is unverified; `pmodel machines --check NAME`",
      "lists those. *With a source*: named beside the figure, not only in a comment. *Rows*: what the operations of a class, or an instruction, cost; a row",
      "that a file gives for several classes counts as several. *Unverified rows*: rows with an unverified figure.",
      "",
      table(["machine", "figures", "with a source", "unverified", "rows", "unverified rows"];
        [.[] | ["\(.name | code) \(.title)", "\(.figures)", of(.sourced; .figures), of(.unverified; .figures), "\(.rows)", of(.unverified_rows; .rows)]]),
      "",
      "## Whose figures they are",
      "",
      "By the first source that stands beside a figure. *Measured by this project*: on a machine at hand. *Guessed, or of a neighbour*: unverified.",
      "",
      table(["machine", "figures", "share", "whose", "source"];
        [.[] | .name as $name | .figures as $all | .by_source[] | [($name | code), "\(.n)", (.n / $all | percent), .kind, (if .text then "\(.source) \(.text)" else "" end)]]),
      "",
      "## Rows beside llvm-mca 19",
      "",
      "`machines/checks/README.md` says how they are compared. *Agreeing*: latency and reciprocal throughput are within one cycle of llvm's, and no figure",
      "of the row is unverified; *with unverified*: those included that are unverified. *Or explained*: with those whose every difference is listed with a",
      "reason in `machines/checks/NAME.differences`, and unverified rows that do not differ, which is the reason. The target is 90% agreeing, and all others explained. Machines that llvm does not know are not here.",
      "",
      table(["machine", "llvm's", "rows", "agreeing", "with unverified", "agreeing or explained", ""];
        [.[] | select(.llvm) | .name as $name | [(.name | code), (.llvm.cpu | code), "\(.llvm.rows)", of(.llvm.agreeing; .llvm.rows),
            of(.llvm.close; .llvm.rows), of(.llvm.agreeing_or_explained; .llvm.rows),
            ([$figures[] | select(.name == "machine_rows_agreeing_\($name)") | if .holds then "holds" else "does not hold" end][0]
                // "not counted: llvm has another processor's model")]]);
