#!/usr/bin/env bash
# Parallel programs, beside what counts the same independently: cg_mpi and sweep_mpi of bench/apps, with Open MPI and MPICH.
#
#   messages and bytes, p = 1 … 8        the programs' formulas (bench/apps/README.md); Open MPI's monitoring component, pair by pair
#   models in N and p                    a run of 16 processes, from 2 … 8 (for sweep_mpi in N, px and py, with p = px py)
#   intervals, p = 1, 2, 4               callgrind's dumps at the same calls, interval by interval (bench/accuracy/parallel/parallel_intervals.bash)
#
# More processes than cores are no harm: counts do not hang on time.
#
# Writes docs/parallel.md and $BUILD/parallel_figures.json.  Alone:
#     BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/accuracy/parallel/parallel.sh
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
new_folder parallel
start_anywhere
cd "$folder"
steps=5 sweeps=2 planes=4 angles=3

# arguments_of NAME: the program's, with {N} in place of the size.
arguments_of() {
    case $1 in
    cg_mpi) echo "{N} $steps" ;;
    sweep_mpi) echo "{N} $sweeps $planes $angles" ;;
    esac
}

# query STORE WHERE COLUMNS: of events, with the run's parameters and the process's rank.
query() {
    sqlite3 -separator ' ' "$1" "SELECT $3 FROM communication c JOIN run ON run.id = c.run JOIN rank r ON r.run = c.run AND r.process = c.process
        WHERE $2"
}

# ---- messages ------------------------------------------------------------------------------------

# formulas NAME N P PX PY: "operation calls bytes" of all processes, as bench/apps/README.md has them.
formulas() {
    awk -v name="$1" -v n="$2" -v p="$3" -v px="$4" -v py="$5" -v s="$([ "$1" = cg_mpi ] && echo "$steps" || echo "$sweeps")" \
        -v planes="$planes" -v angles="$angles" 'BEGIN {
        if (name == "cg_mpi") {
            print "MPI_Isend", 2 * (p - 1) * (s + 4), 16 * n * n * (p - 1) * (s + 4)
            print "MPI_Irecv", 2 * (p - 1) * (s + 4), 16 * n * n * (p - 1) * (s + 4)
            print "MPI_Allreduce", p * (2 * s + 10), p * (8 * n * (2 * s + 9) + 8)
            print "MPI_Reduce", p, 8 * p
        } else {
            a = int((6 + angles - 1) / angles); b = int((n + planes - 1) / planes)
            pairs = (px - 1) * py + px * (py - 1)
            print "MPI_Send", 8 * a * b * s * pairs, 384 * n * n * s * (px - 1 + py - 1)
            print "MPI_Recv", 8 * a * b * s * pairs, 384 * n * n * s * (px - 1 + py - 1)
            print "MPI_Allreduce", p * (2 * s + 2), p * (40 * s + 32)
            print "MPI_Reduce", p, 8 * p
        }
    }' | awk '$2 > 0' | sort
}

# measured STORE P: the same, as it was measured.  Calls without a partner are none.
measured() {
    query "$1" "run.parameters LIKE '%p=$2' AND c.partner <> -2 AND operation IN
        ('MPI_Isend', 'MPI_Irecv', 'MPI_Send', 'MPI_Recv', 'MPI_Allreduce', 'MPI_Reduce') GROUP BY operation ORDER BY operation" \
        "operation, sum(n), sum(n * CASE WHEN operation IN ('MPI_Irecv', 'MPI_Recv') THEN bytes_received ELSE bytes_sent END)" | sort
}

# pairs STORE P: "from to messages bytes" of all messages; monitored FILE P: the same by Open MPI.
pairs() {
    query "$1" "run.parameters LIKE '%p=$2' AND c.partner >= 0 AND operation IN ('MPI_Isend', 'MPI_Send') GROUP BY r.rank, c.partner
        ORDER BY r.rank, c.partner" "r.rank, c.partner, sum(n), sum(n * bytes_sent)"
}
monitored() { cat "$1.$2".*.prof | awk '$1 == "E" { print $2, $3, $6, $4 }' | sort -n -k1 -k2; }

# The grid that MPI_Dims_create makes of P processes, as the program prints it.
grid_of() {
    case $1 in 1) echo 1 1 ;; 4) echo 2 2 ;; 6) echo 3 2 ;; 8) echo 4 2 ;; *) echo "$1" 1 ;; esac
}

# messages NAME LIBRARY: a JSON object for each p.
messages() {
    local name=$1 library=$2 launcher="mpirun.$2 -np {p}" p px py monitoring=null
    local store=$name.$library.pmdb size=16
    [ "$library" = mpich ] || launcher="mpirun.openmpi --mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3
        --mca pml_monitoring_filename $folder/$name.{p} -np {p}"
    # shellcheck disable=SC2046,SC2086 # words
    pmodel run -q --no-memory -o "$store" -P N=$size -P p=1:8 -- $launcher "$BUILD/apps/$library/$name" $(arguments_of "$name") >"$name.$library.output"
    for p in 1 2 3 4 5 6 7 8; do
        read -r px py < <(grid_of $p)
        formulas "$name" $size $p "$px" "$py" >expected
        measured "$store" $p >counted
        if [ "$library" = openmpi ]; then
            monitored "$name" $p >theirs
            pairs "$store" $p >ours
            monitoring=$(cmp -s theirs ours && echo true || echo false)
        fi
        jq -n -c --arg name "$name" --arg library "$library" --argjson p $p --argjson formulas "$(cmp -s expected counted && echo true || echo false)" \
            --argjson monitoring "$monitoring" --argjson messages "$(awk '/send|Send/ { print $2 }' counted | tail -1 | grep . || echo 0)" \
            --argjson bytes "$(awk '/send|Send/ { print $3 }' counted | tail -1 | grep . || echo 0)" \
            '{name: $name, library: $library, p: $p, formulas: $formulas, monitoring: $monitoring, messages: $messages, bytes: $bytes}'
        [ "$(jq -n "$monitoring != false")" = true ] && cmp -s expected counted ||
            { say "$name, $library, $p processes: not as expected"; diff expected counted >&2 || true; }
    done
}

# ---- models --------------------------------------------------------------------------------------

# models NAME: an object: what of a run of 16 processes the models of 2 to 8 say exactly.
models() {
    local name=$1 store=$1.models.pmdb sizes=(-P N=8,12,16,20,24) at=N=32,p=16 run_at=(-P N=32 -P p=16) arguments
    arguments=$(arguments_of "$name")
    if [ "$name" = cg_mpi ]; then
        sizes+=(-P p=2,3,4,6,8)
    else
        sizes+=(-P px=1,2,3,4 -P py=1,2,3,4 -P 'p=px*py' --where 'px*py>1 && px*py<9')
        run_at=(-P N=32 -P px=4 -P py=4 -P 'p=px*py')
        at=N=32,px=4,py=4 arguments="$arguments {px} {py}"
    fi
    # shellcheck disable=SC2086 # words
    pmodel run -q --no-memory -o "$store" "${sizes[@]}" -- mpirun.openmpi -np '{p}' "$BUILD/apps/openmpi/$name" $arguments >"$name.output"
    pmodel fit "$store" >"$name.fit" 2>&1
    pmodel report --as formulas --communication --format json -P "$at" "$store" >predicted.json 2>errors
    # shellcheck disable=SC2086 # words
    pmodel validate -q -s "$store" --no-memory --format json --keep "$name.kept.pmdb" "${run_at[@]}" \
        -- mpirun.openmpi -np '{p}' "$BUILD/apps/openmpi/$name" $arguments >validation 2>errors || die "$name: $(tail -1 errors)"
    sed -n '/^{/,$p' validation >validation.json
    query "$name.kept.pmdb" "c.partner <> -2 GROUP BY operation ORDER BY operation" "operation, sum(n), sum(n * bytes_sent), sum(n * bytes_received)" |
        jq -R -n '[inputs | split(" ") | {operation: .[0], events: (.[1] | tonumber), bytes_sent: (.[2] | tonumber), bytes_received: (.[3] | tonumber)}]' >counted.json
    jq -n -c -L "$here" --arg name "$name" --slurpfile predicted predicted.json --slurpfile counted counted.json --slurpfile validation validation.json \
        'include "parallel"; models($name; $predicted[0]; $counted[0]; $validation[0])'
}

for name in cg_mpi sweep_mpi; do
    for library in openmpi mpich; do
        say "$name with $library: messages of 1 to 8 processes"
        messages "$name" "$library" >>messages.jsonl
    done
    say "$name: models of 2 to 8 processes, asked for 16"
    models "$name" >>models.jsonl
done

# ---- intervals -----------------------------------------------------------------------------------

# intervals NAME P: an object.  Valgrind knows no AVX-512, and callgrind's addresses are those of a program that is not moved.
intervals() {
    local name=$1 p=$2 program language=c compiler=mpicc.openmpi size=12 n kinds differing
    case $name in sweep_mpi) language=fortran compiler=mpif90.openmpi ;; esac
    program=$folder/plain/$name
    if [ ! -x "$program" ]; then
        mkdir -p "$folder/plain"
        # shellcheck disable=SC2046 # words
        $compiler -O2 -g -no-pie -march=x86-64-v2 $(pmodel flags) -w -o "$program" "$apps/$name/$name".[cf]* -lm
    fi
    # shellcheck disable=SC2046 # words
    read -r _ _ n kinds differing < <(compare_intervals "$folder" "$language" "$p" "$program" $(arguments_of "$name" | sed "s/{N}/$size/"))
    jq -n -c --arg name "$name" --argjson p "$p" --argjson n "$n" --argjson kinds "$kinds" --argjson differing "$differing" \
        '{name: $name, p: $p, intervals: $n, kinds: $kinds, differing: $differing}'
}

# shellcheck source=bench/accuracy/parallel/parallel_intervals.bash
. "$here/parallel_intervals.bash"
for name in cg_mpi sweep_mpi; do
    for p in 1 2 4; do
        say "$name, $p processes: intervals beside callgrind's dumps"
        intervals "$name" $p >>intervals.jsonl
    done
done
jq -n -L "$here" --slurpfile messages messages.jsonl --slurpfile models models.jsonl --slurpfile intervals intervals.jsonl \
    'include "parallel"; parallel_figures($messages; $models; $intervals)' >"$BUILD/parallel_figures.json"
jq -n -r -L "$here" --arg cpu "$(cpu_name)" --slurpfile messages messages.jsonl --slurpfile models models.jsonl --slurpfile intervals intervals.jsonl \
    --slurpfile figures "$BUILD/parallel_figures.json" 'include "parallel"; page($cpu; $messages; $models; $intervals; $figures[0])' | wrap >"$TOP/docs/parallel.md"
jq -r '.[] | "\(.name) \(.value)"' "$BUILD/parallel_figures.json"
say "figures in $BUILD/parallel_figures.json, tables in docs/parallel.md"
