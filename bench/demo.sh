#!/usr/bin/env bash
# `make demo`: the whole pipeline on the ADI solver, from source to a report for a mesh almost three
# times as wide as any that is run, on two machines.  PATH has pmodel, BUILD is the build folder.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
folder=$BUILD/demo
sizes=${DEMO_SIZES:-16,20,24,28,32,36}
predict=${DEMO_PREDICT:-96}
machines=${DEMO_MACHINES:-r12000,itanium2}
mkdir -p "$folder"
cd "$folder"

step() { printf '\n== %s\n' "$1"; shift; printf '$ %s\n' "$*"; "$@"; }

# The program is the same every time; its store is made anew, so that the demo shows the work.
rm -f adi.pmdb
flags=$(pmodel flags)
# shellcheck disable=SC2086 # the flags are words
step "compile with the plugin: the code does not change, a section describes it" \
    gfortran -O3 -g $flags -o adi "$here/apps/adi/adi.f90"
step "what the lifter finds" pmodel loops --routine time_stepping::z_solve ./adi
step "measure at small sizes" pmodel run -o adi.pmdb -m "$machines" -P "N=$sizes" -- ./adi '{N}'
step "make models of the measurements" pmodel fit adi.pmdb
step "predict a size never run, on machines not here" \
    pmodel report adi.pmdb -m "$machines" -P "N=$predict"
printf '\nThe store is %s; try `pmodel report %s -m r12000 -P N=200`.\n' "$folder/adi.pmdb" "$folder/adi.pmdb"
