# What bench/accuracy/parallel/parallel.sh makes of its runs.

def figure($name; $unit; $limit; holds): {name: $name, value: ., unit: $unit, limit: $limit, holds: (if . == null then false else holds end)};
def share(condition): if length == 0 then null else (map(select(condition)) | length) / length end;

# Sums over call paths and roles, of all ranks; the models have them as role "all".
def models($name; $predicted; $counted; $validation):
    [$counted[] | . as $row | ("events", "bytes_sent", "bytes_received") as $quantity
        | {operation: .operation, quantity: $quantity, counted: .[$quantity],
           predicted: ([$predicted.messages[] | select(.role == null and .operation == $row.operation and .quantity == $quantity) | .value] | add)}
        | select(.counted > 0 or .predicted != null)]
    | {name: $name, messages: ., basic_blocks: $validation.sizes[0].basic_blocks};

def is_exact: .predicted != null and ((.predicted - .counted) | fabs) <= 1e-6 * .counted;

def parallel_figures($messages; $models; $intervals): [
    ($messages | share(.formulas) | figure("messages_as_formulas"; "share"; 1; . == 1)),
    ($messages | map(select(.monitoring != null)) | share(.monitoring) | figure("messages_as_monitored"; "share"; 1; . == 1)),
    ([$models[].messages[]] | share(is_exact) | figure("messages_of_16_exact"; "share"; 1; . == 1)),
    ([$models[].basic_blocks] | (map(.exact) | add) / (map(.executed) | add) | figure("basic_blocks_of_16_exact"; "share"; null; true)),
    ($intervals | if length == 0 then null else 1 - (map(.differing) | add) / (map(.p) | add) end | figure("ranks_with_intervals_as_callgrind"; "share"; 1; . == 1))];

def digits($n): if . == null then "?" else . * pow(10; $n) | round / pow(10; $n) | tostring end;
def yes: if . == null then "–" elif . then "yes" else "no" end;

def page($cpu; $messages; $models; $intervals; $figures):
      "# Parallel programs, checked",
      "",
      "Written by `bench/accuracy/parallel/parallel.sh` on \($cpu): what `pmodel run` has of the communication of `cg_mpi` and `sweep_mpi` (`bench/apps/README.md`), with Open MPI and MPICH,",
      "beside what counts the same independently.",
      "",
      "| figure | value | limit | holds |",
      "|---|--:|--:|---|",
      ($figures[] | "| `\(.name)` | \(.value | digits(3)) \(.unit) | \(.limit // "" | tostring) | \(if .holds then "yes" else "no" end) |"),
      "",
      "## Messages and bytes",
      "",
      "Of all processes together, N=16. As the formulas: calls and bytes of each operation, those of collective calls, too. As monitored: messages and bytes of each pair of processes, by Open MPI's",
      "monitoring component.",
      "",
      "| program | library | p | messages | bytes | as the formulas | as monitored |",
      "|---|---|--:|--:|--:|---|---|",
      ($messages[] | "| \(.name) | \(.library) | \(.p) | \(.messages) | \(.bytes) | \(.formulas | yes) | \(.monitoring | yes) |"),
      "",
      "## Sixteen processes from two to eight",
      "",
      "Models of runs at N = 8 to 24, asked for N=32 and 16 processes, beside a run there (`pmodel report --as formulas --communication`, `pmodel validate`).",
      "",
      "| program | operation | what | predicted | counted |",
      "|---|---|---|--:|--:|",
      ($models[] | . as $model | .messages[] | "| \($model.name) | \(.operation) | \(.quantity) | \(.predicted | digits(0)) | \(.counted) |"),
      "",
      ($models[] | "- `\(.name)`: executions of \(.basic_blocks.exact) of \(.basic_blocks.executed) basic blocks are exact."),
      "",
      "## Intervals",
      "",
      "Executions of all basic blocks in each interval of each process, N=12, beside callgrind, which writes and zeroes its counts before the same calls.",
      "",
      "| program | p | intervals of all ranks | kinds | ranks that differ |",
      "|---|--:|--:|--:|--:|",
      ($intervals[] | "| \(.name) | \(.p) | \(.intervals) | \(.kinds) | \(.differing) |");
