# Small stores of many kinds: of C, C++ and Fortran, with one thread, OpenMP and MPI, with times and
# without, with models and without, with one and several parameters. Each is a line `STORE SIZE SIZE`
# in the file `stores`: a size that was measured, and one that was not (-: there are no models).
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
machines=sapphire-rapids,r12000
plugin=$(pmodel flags)

# store NAME MEASURED NEW ARGUMENTS OF RUN...
store() {
    local name=$1 measured=$2 new=$3
    shift 3
    pmodel run -q -o "$name.pmdb" -m "$machines" "$@" >run.log 2>&1 || {
        fail "$name is measured" "$(tail -n 1 run.log)"
        return
    }
    [ "$new" = - ] || pmodel fit "$name.pmdb" >run.log 2>&1 || fail "$name has models" "$(tail -n 1 run.log)"
    echo "$name $measured $new" >>stores
}

few_stores() {
    cp "$TOP"/bench/apps/threads/*.[ch] "$TOP/bench/apps/heat/heat.c" .
    gcc -O2 -g "$plugin" -o heat heat.c -lm
    gcc -O1 -g -fopenmp "$plugin" -o triangle triangle.c
    store heat N=18 N=40 --time -P N=10,12,14,16,18 -- ./heat '{N}'
    store triangle N=80,p=2 N=200,p=2 --env 'OMP_NUM_THREADS={p}' -P p=1,2,3 -P N=40,60,80 -- ./triangle '{N}' 3
}

more_stores() {
    cp "$TOP/tests/golden/chain.c" "$TOP/tests/golden/two.c" "$TOP/tests/golden/nest.c" "$TOP/tests/rewrite/exceptions.cc" .
    local apps=$TOP/bench/apps
    gcc -O2 -g "$plugin" -o two two.c
    gcc -O3 -march=x86-64-v3 -g "$plugin" -o nest nest.c
    gcc -O2 -g "$plugin" -o cg "$apps/cg/cg.c" -lm
    gcc -O1 -g "$plugin" -o heat1 heat.c -lm
    gcc -O3 -march=x86-64-v3 -g "$plugin" -o heat3 heat.c -lm
    gcc -O2 -g -fopenmp "$plugin" -o triangle2 triangle.c
    mpicc.openmpi -O1 -g "$plugin" -o chain chain.c
    gfortran-12 -O2 -g "$plugin" -o adi "$apps/adi/adi.f90"
    gfortran-12 -O2 -g "$plugin" -o ssor "$apps/ssor/ssor.f90"
    gfortran-12 -O2 -g "$plugin" -o sweep "$apps/sweep/sweep.f90"
    gfortran-12 -O3 -march=x86-64-v3 -g "$plugin" -o adi3 "$apps/adi/adi.f90"
    local source
    for source in multigrid fft matmul; do
        gcc -O2 -g "$plugin" -o "$source" "$apps/$source/$source.c" -lm
    done
    cat >tables.cc <<'EOF_CC'
#include <cstdlib>
#include <vector>
template <class T> struct table {
    std::vector<T> cells;
    explicit table(size_t n) : cells(n * n, T(1)) {}
    T sum(size_t n) const {
        T all = 0;
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < n; i++)
                all += cells[i * n + j];
        return all;
    }
};
int main(int argc, char **argv) {
    const size_t n = argc > 1 ? atoi(argv[1]) : 10;
    table<double> doubles(n);
    table<int> ints(n);
    return doubles.sum(n) + ints.sum(n) > 2.0 * n * n;
}
EOF_CC
    g++ -O2 -g "$plugin" -o tables tables.cc
    store chain N=40,p=4 N=60,p=8 -P N=10,20,30,40 -P p=2,3,4,6 --exe ./chain -- mpirun.openmpi -np '{p}' ./chain '{N}'
    store heat_timed N=14 - --time -P N=10,14 -- ./heat '{N}'
    store adi N=8 N=24 -P N=4,5,6,7,8 -- ./adi '{N}' 1
    store two A=16,B=24 A=40,B=60 -P A=8,12,16,20,24 -P B=8,16,24,32,40 -- ./two '{A}' '{B}'
    store nest N=32 N=120 -P N=16:56:8 -- ./nest '{N}'
    store nest_few N=24 - -P N=16,24 -- ./nest '{N}'
    store cg N=8 N=20 -P N=3,4,5,6,7,8 -- ./cg '{N}' 10
    store heat1 N=18 N=70 -P N=10,12,14,16,18 -- ./heat1 '{N}'
    store heat3 N=18 N=70 --write-backs --bytes -P N=10,12,14,16,18 -- ./heat3 '{N}'
    store heat_carried N=18 N=30 --carry -P N=10,12,14,16,18 -- ./heat '{N}'
    store heat_sampled N=18 N=30 --sample 1/4 -P N=10,12,14,16,18 -- ./heat '{N}'
    store triangle2 N=80,p=2 N=120,p=4 --env 'OMP_NUM_THREADS={p}' -P p=1,2,3 -P N=40,60,80 -- ./triangle2 '{N}' 3
    store ssor N=9 N=30 -P N=4,5,6,7,8,9 -- ./ssor '{N}' 3
    store sweep N=12 N=28 -P N=4,6,8,10,12 -- ./sweep '{N}' 1
    store adi3 N=8 N=40 -P N=4,5,6,7,8 -- ./adi3 '{N}' 1
    store multigrid N=16 N=64 -P N=2,4,8,16 -- ./multigrid '{N}' 2
    store fft N=1024 N=8192 -P N=128,256,512,1024 -- ./fft '{N}' 1
    store matmul N=48 N=100 -P N=24,32,48,64,80 -- ./matmul '{N}' ikj
    store tables N=64 N=300 -P N=16:96:16 -- ./tables '{N}'
}
