#!/usr/bin/env bash
# `make ablation`: what is each step of fit/ worth, and each of its constants?  The programs of ablation.conf
# are measured once, into $BUILD/ablation (runs of `make validate` are taken where they are there);
# then all models are made without each step, and with each constant halved and doubled (ablation.c), and
# compared with the measurements.  Writes docs/ablation.md; with STEPS, CONSTANTS or PROGRAMS, which choose by
# name (name,…; `-`: none), $BUILD/ablation.md, because it is a part.
#
# Nothing is measured again unless its program or its line in ablation.conf changed.
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../lib/bench.bash"
# shellcheck source=tests/real/programs.bash
. "$TOP/tests/real/programs.bash"
in_folder ablation
blocks=64,4096

# A store that is there, and of this format.
can_be_read() { [ -s "$1" ] && pmodel show "$1" >/dev/null 2>&1; }

# take_validated NAME: the runs of `make validate`, where its program is as new as the source; false if there
# are none.
take_validated() {
    local from=$BUILD/validate/$1
    can_be_read "$from/models.pmdb" && can_be_read "$from/measured.pmdb" || return 1
    [ "$from/$1" -nt "$apps/$(size_value "$1" source)" ] || return 1
    cp "$from/models.pmdb" "$from/measured.pmdb" .
}

# make_input SIZE...: what the arguments of a file ask for, of each size.
make_input() {
    local size
    awk_script >script.awk
    for size in "$@"; do
        [ -s "text.$size" ] || generate_text "$size" >"text.$size"
    done
}

# design SIZES: the options that ask for them.
design() {
    local one
    for one in ${1//;/ }; do
        case $one in *=*) printf -- '-P %s ' "$one" ;; *) printf -- '-P N=%s ' "$one" ;; esac
    done
}

# build_test TEST NAME FLAG...: NAME.c of an end-to-end test.
build_test() {
    sed -n "/^cat >$2.c/,/^C\$/p" "$TOP/tests/e2e/$1.sh" | sed '1d;$d' >"$2.c"
    # shellcheck disable=SC2046 # the flags are words
    gcc "${@:3}" -g $(pmodel flags) -o new "$2.c"
}

# measure NAME CLASS FROM FIT PREDICT WORD...: both stores of a case, in its folder.
measure() {
    local name=$1 class=$2 from=$3 fit=$4 predict=$5 arguments padding= at_fit at_predict
    shift 5
    mkdir -p "$folder/$name"
    cd "$folder/$name"
    arguments=("$@")
    if [ "$class" = several ]; then
        build_test several "$from" -O1
    elif [ "$class" = disturbed ]; then
        build_test outlier_sizes "$from" -O3 -ffast-math -march=x86-64-v3
    elif [ "$class" = real ]; then
        cp "$(command -v "$from")" new
    elif [ "$class" = irregular ]; then
        # shellcheck disable=SC2046 # the flags are words
        gcc $(size_value all flags) $(pmodel flags) -o new "$apps/irregular/irregular.c" -lm
    else
        # shellcheck disable=SC2046 # the flags are words
        build_program "$from" new $(pmodel flags)
        mapfile -t arguments < <(program_arguments "$from" fit)
    fi
    printf '%s\n' "$class" "$from" "$fit" "$predict" "${arguments[@]}" >settings
    if can_be_read models.pmdb && can_be_read measured.pmdb && cmp -s new program && cmp -s settings measured.settings; then
        return
    fi
    rm -f models.pmdb measured.pmdb
    mv new program
    if [ "$class" != targets ] || ! take_validated "$from"; then
        say "$name: measure at N = $fit, and $predict"
        # shellcheck disable=SC2086 # a word each
        [ "$class" != real ] || make_input ${fit//,/ } ${predict//,/ }
        [ "$class" != environment ] || padding=$(printf 'x%.0s' {1..1500})
        read -ra at_fit <<<"$(design "$fit")"
        read -ra at_predict <<<"$(design "$predict")"
        PADDING=$padding pmodel run -q -o models.pmdb --block "$blocks" "${at_fit[@]}" -- ./program "${arguments[@]}" \
            >/dev/null 2>errors </dev/null
        [[ $predict == =* ]] || PADDING=$padding pmodel run -q -o measured.pmdb --block "$blocks" "${at_predict[@]}" -- ./program "${arguments[@]}" \
            >/dev/null 2>errors </dev/null
    fi
    [[ $predict != =* ]] || cp "$folder/${predict#=}/measured.pmdb" .
    mv settings measured.settings
}

started=$SECONDS
: >"$folder/cases"
while read -r name part class from fit predict rest; do
    case $name in '' | '#'*) continue ;; esac
    [[ -z ${PROGRAMS-} || ,$PROGRAMS, == *,"$name",* ]] || continue
    if [[ $from == =* ]]; then
        printf '%s %s %s %s %s %s\n' "$name" "$part" "$class" "$folder/${from#=}/models.pmdb" \
            "$folder/${from#=}/measured.pmdb" "$fit" >>"$folder/cases"
        continue
    fi
    if [ "$fit" = . ]; then fit=$(size_value "$from" fit) fit=${fit// /,}; fi
    if [ "$predict" = . ]; then predict=$(size_value "$from" predict) predict=${predict// /,}; fi
    read -ra words <<<"$rest"
    if ! (measure "$name" "$class" "$from" "$fit" "$predict" "${words[@]}"); then
        say "$name: could not be measured: $(tail -n 1 "$folder/$name/errors")"
        continue
    fi
    case $fit in *=*) fit='*' ;; esac
    printf '%s %s %s %s %s %s\n' "$name" "$part" "$class" "$folder/$name/models.pmdb" \
        "$folder/$name/measured.pmdb" "$fit" >>"$folder/cases"
done <"$here/ablation.conf"
say "$(wc -l <"$folder/cases") cases, $((SECONDS - started)) s"

read -ra libraries <"$BUILD/ldlibs"
gcc -std=gnu11 -O2 -fopenmp -I"$TOP" -o "$folder/ablation" "$here/ablation.c" \
    -Wl,--start-group "$BUILD"/libpm_{core,fit}.a -Wl,--end-group "${libraries[@]}"
page=$TOP/docs/ablation.md
[ -z "${STEPS-}${CONSTANTS-}${PROGRAMS-}" ] || page=$BUILD/ablation.md
"$folder/ablation" "$folder/cases" "${STEPS-}" "${CONSTANTS-}" "$folder/errors" | wrap >"$page.new"
mv "$page.new" "$page"
cat "$page"
say "$((SECONDS - started)) s; tables in $page"
