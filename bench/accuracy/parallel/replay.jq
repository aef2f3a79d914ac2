# Figures and the page of bench/accuracy/parallel/replay.sh from its rows.

def off: (.seconds / .judge - 1) | fabs;
def mpi_off: (.in_mpi - .judge_in_mpi) | fabs;
def waiting_off: (.waiting - .judge_waiting) | fabs;
def own_waiting_off: (.own_waiting - .judge_waiting) | fabs;
def figure($name; $value; $target): {name: $name, value: $value, target: $target, holds: ($value != null and $value <= $target)};
def of($part): map(select(.part == $part));

def replay_figures: [
    figure("replay_own_traces"; of("own") | map(off) | max; 0.02),
    figure("replay_vs_smpirun"; of("smpirun") | map(off) | max; 0.1),
    figure("replay_two_ranks"; of("here") | map(off) | max; 0.2),
    figure("replay_two_ranks_in_mpi"; of("here") | map(mpi_off) | max; 0.1),
    figure("replay_two_ranks_waiting"; of("here") | map(waiting_off) | max; 0.1),
    figure("waiting_by_run_time"; of("here") | map(own_waiting_off) | max; 0.05)];

def percent: if . == null then "?" else (. * 1000 | round / 10 | tostring) + "%" end;
def ms: (. * 1e5 | round / 100 | tostring) + " ms";
def line: "| " + join(" | ") + " |";
def rows($part; columns): of($part)[] | [.program, (.ranks | tostring)] + columns | line;

def replay_page($cpu):
    "# Replays beside what they stand for\n\nWritten by `bench/accuracy/parallel/replay.sh` (`make validate`) on \($cpu). All replays are SimGrid's, on `machines/networks/switch-10g.xml` but for the last table.\n",
    "## Traces of smpirun\n\n`smpirun` executed the program and traced it; the trace replayed by pmodel and by SimGrid's own replay.\n\n| program | ranks | pmodel | SimGrid | off by |\n|---|---|---|---|---|",
    rows("own"; [(.seconds | ms), (.judge | ms), (off | percent)]),
    "\n## Executed by smpirun\n\nThe communication of a run under mpirun with computation as predicted, against the program executed by `smpirun`, which measures its computation here. Both are simulations of the network. `smpirun` executes all ranks in turn on one core, so that each finds the caches as the others left them.\n\n| program | ranks | predicted | 80% | executed | off by |\n|---|---|---|---|---|---|",
    rows("smpirun"; [(.seconds | ms), ((.low | ms) + " to " + (.high | ms)), (.judge | ms), (off | percent)]),
    "\n## On this machine\n\nOne and two ranks of Open MPI on the network that `pmodel probe --network --pattern` measured, against a clock: the fastest of the processes, from the end of MPI_Init to the begin of MPI_Finalize; and shares of that time, of the mean rank: in calls of MPI, and, of these, waiting for the partner (of a receive, until the message was sent; of a send that is not buffered, until the receive began; of a collective operation, until the last rank came), by the begin and end of each call on the clock that both ranks share; and what `pmodel run --time` measures of the latter, with timers in the program.\n\n| program | ranks | work | predicted | 80% | measured | off by | in MPI, predicted | measured | waiting, predicted | measured | `run --time` |\n|---|---|---|---|---|---|---|---|---|---|---|---|",
    rows("here"; [.what, (.seconds | ms), ((.low | ms) + " to " + (.high | ms)), (.judge | ms), (off | percent), (.in_mpi | percent), (.judge_in_mpi | percent), (.waiting | percent), (.judge_waiting | percent), (.own_waiting | percent)]);
