# Ranks of an MPI program that do different work are told apart, roles hold from p = 2 to p = 16, and
# what their models say of p = 16 is what is measured there.
. "$TOP/tests/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

cp "$TOP/tests/golden/chain.c" .
# shellcheck disable=SC2046
mpicc.openmpi -O1 -g $(pmodel flags) -o chain chain.c
measure() {
    local store=$1
    shift
    pmodel run --interval none --block 64 --exe ./chain -o "$store" "$@" -- mpirun.openmpi -np '{p}' ./chain '{N}'
}
measure small.pmdb -P N=10,20,30,40,50 -P p=2,3,4,6,8 --where 'N<=20 || p<=4' 2>said
measure large.pmdb -P N=60 -P p=16 2>>said
check "a run says how many ranks and groups it had" \
    grep -q 'N=20 p=8 .*; 8 ranks in 3 groups, alike within 5%' said
pmodel fit small.pmdb >/dev/null 2>fitted
check "each role has models" sh -c '[ "$(grep -c "^pmodel fit: role .* runs, .* models" fitted)" = 3 ]'

python3 - <<'EOF_PYTHON'
import json, subprocess

def pmodel(*arguments):
    return json.loads(subprocess.run(["pmodel", *arguments, "--format", "json"], check=True, capture_output=True, text=True).stdout)

def test(name, expected, found):
    print(f"ok - {name}" if expected == found else f"FAIL - {name}: {found}, not {expected}")

report = pmodel("report", "--as", "ranks", "small.pmdb", "-m", "zen4", "--interpolate", "-P", "N=20,p=8")["reports"][0]
groups = report["groups"]
test("ranks are grouped by role and work", [("first", "0"), ("inside", "1–6"), ("last", "7")],
     [(g["role"], g["ranks"]) for g in groups])
ratio = groups[0]["seconds"] / groups[1]["seconds"]
test("the first rank takes twice as long", True, 1.8 < ratio < 2.2)
test("the others wait for it", True, abs(groups[0]["seconds"] - groups[1]["seconds"] - groups[1]["waits_seconds"]) < 1e-12)
test("imbalance is the slowest over the mean", True,
     abs(report["imbalance"] - 8 * groups[0]["seconds"] / sum(g["seconds"] * g["n_ranks"] for g in groups)) < 1e-9)
calls = {(c["role"], c["call"].split()[-1]): c["calls"] for c in report["waiting_calls"]}
test("ranks wait where they receive", {("inside", "MPI_Recv"): 8, ("last", "MPI_Recv"): 8}, calls)

predicted = pmodel("report", "--as", "ranks", "small.pmdb", "-m", "zen4", "--interpolate", "-P", "N=60,p=16")["reports"][0]["groups"]
test("at p = 16 there are as many ranks of each role as there will be", [("first", 1), ("inside", 14), ("last", 1)],
     [(g["role"], g["n_ranks"]) for g in predicted])

messages = pmodel("report", "--as", "formulas", "small.pmdb", "--communication", "-P", "N=60,p=16")["messages"]
formulas = {(m["role"], m["operation"], m["quantity"]): m["formula"] for m in messages}
test("messages of a rank are a formula", "8*N*p", formulas["inside", "MPI_Send", "bytes_sent"])
test("messages of all ranks are one", "p^2 - p", formulas[None, "MPI_Recv", "events"])
values = {(m["role"], m["operation"], m["quantity"]): m["value"] for m in messages}
for role in "first", "inside", "last":
    sends, receives = role != "last", role != "first"
    expected = {"MPI_Send": sends, "MPI_Recv": receives}
    test(f"messages of {role} at p = 16", [(16, 16 * 60 * 8) for o in expected if expected[o]],
         [(values[role, o, "events"], values[role, o, "bytes_sent" if o == "MPI_Send" else "bytes_received"])
          for o in expected if expected[o]])

def iterations(store, *options):
    rows = pmodel("report", store, "-m", "zen4", "--interpolate", "-P", "N=60,p=16", *options)["predictions"][0]["rows"]
    return {s["label"]: s["iterations"] for s in rows if s.get("iterations")}
for role in "first", "inside", "last":
    test(f"models of {role} say what is measured at p = 16", iterations("large.pmdb", "--role", role),
         iterations("small.pmdb", "--role", role))
test("so do those of all ranks", iterations("large.pmdb"), iterations("small.pmdb"))
EOF_PYTHON
check "a report says what it is of" sh -c \
    'pmodel report small.pmdb --role inside -m zen4 --interpolate | head -n 1 | grep -qx "of the mean rank of role inside"'

check "so does a query" sh -c 'pmodel query small.pmdb --role last --cache 4K -P N=20 -P p=8 | head -n 1 | grep -qx "of the mean rank of role last"'

check "times are measured where intervals are, too" sh -c \
    'pmodel run --time --exe ./chain --no-memory -o timed.pmdb -P N=10 -P p=2 -- mpirun.openmpi -np "{p}" ./chain "{N}" >timed 2>&1 || { cat timed; exit 1; }'

# ---- what may go wrong ---------------------------------------------------------------------------

expect_error "an unknown role names those that there are" 2 \
    'no role "insid" in this store: its ranks have first, inside, last; did you mean inside\?' \
    pmodel report small.pmdb --role insid
expect_error "a store without intervals says so" 2 'the store has no intervals' \
    pmodel report small.pmdb --interval MPI_Send
expect_error "an ordinal needs a kind" 2 'it needs --interval' pmodel fit small.pmdb --ordinal t
expect_error "a rank that left nothing is named" 2 'ranks 2 of 4 left no raw file' \
    env LEAVES=2 pmodel run --interval none --exe ./chain --no-memory -o left.pmdb -P N=10 -P p=4 -- \
    mpirun.openmpi -np '{p}' ./chain '{N}'
check "what the others did is kept where it is asked for" sh -c \
    'LEAVES=2 pmodel run --interval none --exe ./chain --no-memory --keep-partial -o left.pmdb -P N=10 -P p=4 -- \
        mpirun.openmpi -np "{p}" ./chain "{N}" 2>&1 | grep -q "3 ranks in .*; kept, although it lacks ranks 2 of 4"'

cat >serial.c <<'EOF_SERIAL'
int main(void) { return 0; }
EOF_SERIAL
# shellcheck disable=SC2046
gcc -O1 -g $(pmodel flags) -o serial serial.c
launched() { # RANK SIZE RANK SIZE: as a launcher would
    printf 'export OMPI_COMM_WORLD_RANK=%s OMPI_COMM_WORLD_SIZE=%s\n./serial\n' "$@" >script
    pmodel run --again --no-memory --exe ./serial -o serial.pmdb -- sh ./script 2>&1
}
check "ranks that name different sizes are not told apart" sh -c 'grep -q "$1" <<END
$2
END' - 'rank 0 says that there are 4 ranks, rank 1 that there are 2: ranks are not told apart' "$(launched 0 4 1 2)"
check "neither are several programs in one command" sh -c 'grep -q "$1" <<END
$2
END' - 'several processes say that they are the same rank' "$(launched 0 1 0 1)"
check "a program whose launcher is known has ranks" sh -c 'grep -q "$1" <<END
$2
END' - '2 ranks in 1 group' "$(launched 0 2 1 2)"
check "a program that only has the environment of pmodel's own rank has none" sh -c \
    'OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 pmodel run --again --no-memory -o serial.pmdb -- ./serial 2>&1 | grep -q "accesses$"'
pmodel run --again --no-memory -o serial.pmdb -- ./serial 2>/dev/null
expect_error "a program without MPI has no ranks" 2 'no ranks at this size' pmodel report --as ranks serial.pmdb 
expect_error "nor roles" 2 'no role "first": the store has no runs' pmodel report serial.pmdb --role first

# ---- a rank that waits in memory that it shares with another ----
cat >handshake.c <<'EOF_C'
#include <mpi.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    long n = atol(argv[argc - 1]);
    int rank, unit;
    atomic_long *flag;
    MPI_Win window;
    MPI_Aint bytes;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate_shared(rank ? 0 : 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &flag, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &flag);
    if (rank == 0)
        atomic_store(flag, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        usleep(200000);
    volatile double sum = 0;
    for (long i = 0; i < n; i++)
        sum += i;
    if (rank == 0)
        atomic_store(flag, 1);
    while (!atomic_load_explicit(flag, memory_order_acquire))
        ;
    MPI_Send(&n, 1, MPI_LONG, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Recv(&n, 1, MPI_LONG, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
EOF_C
# shellcheck disable=SC2046
mpicc.openmpi -O1 -g $(pmodel flags) -o handshake handshake.c
pmodel run -q --interval none --block 64,4096 --exe ./handshake -o handshake.pmdb -P N=1000 -- \
    mpirun.openmpi -np 2 ./handshake '{N}'
role=$(pmodel report --as ranks handshake.pmdb -m zen4 --format json --interpolate |
    jq -r '.reports[0].groups[] | select(.ranks == "1") | .role')
pmodel report handshake.pmdb --role "$role" -m zen4 --interpolate --notes >waits 2>&1
check "a report of a rank says that it left the rounds out in which the rank waits" \
    grep -q 'only waits for other ranks, with .* rounds, is left' waits
