#!/bin/bash
# Lifts every ELF file that Debian's packages have put under the system's bin and lib folders for a summary, each with a
# limit of time and memory, and writes docs/sweep.md: totals by kind of file, the worst files, and how many indirect
# jumps are resolved in what GCC made of C and Fortran. Files given as arguments are read instead, and the page goes to standard output.
set -u -o pipefail
most_seconds=${MOST_SECONDS:-300}
most_kib=$((1024 * 1024)) # resident; the limit of address space is only there to protect the machine
address_kib=$((6 * 1024 * 1024))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The language, by what the file holds and needs: Debian strips .comment, which would tell the compiler. Debian builds
# C, C++ and Fortran with GCC but for a few packages, LLVM's own among them.
kind_of() {
    local needed
    readelf -SW "$1" 2>/dev/null | grep -q -E '\.(go\.buildinfo|gopclntab)' && echo Go && return
    needed=$(readelf -dW "$1" 2>/dev/null)
    if LC_ALL=C grep -q -a -F RUST_BACKTRACE "$1"; then
        echo Rust
    elif LC_ALL=C grep -q -a -E 'FPC [0-9]+\.[0-9]+' "$1"; then
        echo "Free Pascal"
    elif LC_ALL=C grep -q -a -F stg_ap_ "$1" || LC_ALL=C grep -q -a -F GHC.Base "$1"; then
        echo Haskell
    elif [[ $1 == *clang* || $1 == *LLVM* || $1 == */llvm-* ]]; then
        echo "C and C++ of LLVM"
    elif [[ $needed == *libgfortran* || $1 == *libgfortran* ]]; then
        echo "GCC Fortran"
    elif [[ $needed == *libstdc++* ]] || readelf --dyn-syms -sW "$1" 2>/dev/null | grep -q ' _ZN\?[0-9SKT]'; then
        echo "GCC C++"
    else
        echo "GCC C"
    fi
}

# One line: kind, status, KiB, seconds, the CSV of pmodel (or its complaint).
sweep_one() {
    local file=$1 out err status kib seconds
    out=$(mktemp -p "$work") err=$(mktemp -p "$work")
    (ulimit -v "$address_kib" && exec /usr/bin/time -q -o "$out.time" -f '%M %e' \
        timeout "$most_seconds" pmodel loops --summary --plain --format csv "$file") >"$out" 2>"$err"
    status=$?
    read -r kib seconds <"$out.time"
    if [ "$status" = 0 ]; then
        printf '%s\t%s\t%s\t%s\t%s\n' "$(kind_of "$file")" ok "$kib" "$seconds" "$(sed -n 2p "$out" | tr -d '\r')"
    elif [ "$status" = 2 ] && [ "$(wc -l <"$err")" = 1 ] && grep -q '^pmodel: ' "$err"; then
        printf 'refused\trefused\t%s\t%s\t%s,%s\n' "$kib" "$seconds" "$file" "$(tr -d '\n' <"$err" | tr , ';')"
    else
        printf 'failed\tstatus %s\t%s\t%s\t%s,%s\n' "$status" "$kib" "$seconds" "$file" "$(tail -n 1 "$err" | tr , ';')"
    fi
    rm -f "$out" "$out.time" "$err"
}
export -f kind_of sweep_one
export work most_seconds address_kib

# What packages of a Debian release installed, where apt can tell: the page is about Debian, not about what else a machine
# has.
packaged() {
    local package
    apt list --installed 2>/dev/null | grep -E '^[^/ ]+/[^ ]*(stable|testing)' | cut -d / -f 1 >"$work/packages"
    if [ ! -s "$work/packages" ]; then
        cat
        return
    fi
    while IFS= read -r package; do
        cat "/var/lib/dpkg/info/$package.list" "/var/lib/dpkg/info/$package":*.list 2>/dev/null
    done <"$work/packages" | sed -E 's,^/(bin|sbin|lib|libexec)/,/usr/\1/,' | LC_ALL=C sort -u >"$work/packaged"
    LC_ALL=C sort | LC_ALL=C comm -12 - "$work/packaged"
}

# Every file once, however many names it has, that starts as ELF files do.
list_files() {
    if [ $# -gt 0 ]; then
        printf '%s\n' "$@"
        return
    fi
    find /usr/bin /usr/sbin /usr/lib /usr/libexec -xdev -type f -size +0 -printf '%D:%i\t%p\n' 2>/dev/null |
        sort -u -t "$(printf '\t')" -k 1,1 | cut -f 2 | packaged | while IFS= read -r file; do
        read -r -N 4 magic <"$file" 2>/dev/null && [ "$magic" = $'\x7fELF' ] && printf '%s\n' "$file"
    done
}

write_page() {
    awk -F '\t' -v most_kib="$most_kib" -f "$(dirname "$0")/sweep.awk" "$work/lines"
}

list_files "$@" | LC_ALL=C sort >"$work/files"
xargs -d '\n' -P "$(nproc)" -n 1 bash -c 'sweep_one "$1"' sweep <"$work/files" >"$work/lines"
if [ $# -gt 0 ]; then
    write_page
else
    write_page | python3 "$(dirname "$0")/../../lib/wrap.py" >docs/sweep.md
    echo "docs/sweep.md has what $(wc -l <"$work/files") files gave"
fi
! grep -q '^failed' "$work/lines" &&
    awk -F '\t' -v most="$most_kib" '$3 > most { bad = 1 } END { exit bad }' "$work/lines"
