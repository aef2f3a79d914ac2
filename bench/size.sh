#!/usr/bin/env bash
# shellcheck disable=SC2086 # $stages is several words
# `make size`: how much there is to read: lines of product and folders by stage, commands, constants and steps of models and of
# time; words of the glossary; lines of tests, bench and documents.  Of the files that git has here, or in a commit:
#     bench/size.sh [COMMIT]
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "${BASH_SOURCE[0]}")/.."
stages='gcc-plugin binlift runtime measure fit sched machines ask report cmd core'
if [ $# -gt 0 ]; then
    tree=$(mktemp -d)
    trap 'rm -rf "$tree"' EXIT
    git archive "$1" | tar -x -C "$tree"
    cd "$tree"
    files() { find "$@" -type f 2>/dev/null; }
else
    files() { git ls-files --cached --others --exclude-standard -- "$@" | while read -r file; do [ ! -f "$file" ] || echo "$file"; done; }
fi
sources() { files "$@" | grep -E '\.(c|h|cc|S)$'; }
lines() { xargs -r cat | wc -l; }

printf '%-12s %8s %8s %8s\n' stage lines files folders
for stage in $stages; do
    [ ! -d "$stage" ] ||
        printf '%-12s %8d %8d %8d\n' "$stage" "$(sources "$stage" | lines)" "$(sources "$stage" | wc -l)" "$(sources "$stage" | xargs -n1 dirname | sort -u | wc -l)"
done
printf '%-12s %8d %8d %8d\n\n' product "$(sources $stages | lines)" "$(sources $stages | wc -l)" "$(sources $stages | xargs -n1 dirname | sort -u | wc -l)"

# Lines `X(name, …` of the lists whose names a pattern fits.
listed() { # FILE PATTERN
    files $stages | grep -xF -e "$1" | xargs -r awk -v pattern="$2" '
        /^#define / { counts = $2 ~ pattern } counts && /^    X\([A-Za-z]/ { n++ } !/\\$/ { counts = 0 } END { print n + 0 }'
}
printf '%-36s %8d\n' "commands" "$(grep -oE '^ *\{"[a-z]+",|&pm_command_[a-z]+' cmd/main.c | sort -u | wc -l)" \
    "constants of models (fit)" "$(listed fit/heuristics.h '(NUMBERS|SHOWN|COUNTS)')" \
    "constants of time (sched)" "$(listed sched/constants.h .)" \
    "steps that can be left out" "$(listed fit/heuristics.h STEPS)" \
    "words of the glossary" "$(sed -n '/^## Words/,/^## [^W]/p' docs/architecture.md | grep -c '^| [^-w]\|^| w[^o]')" \
    "folders with one or two sources" "$(sources $stages | xargs -n1 dirname | sort | uniq -c | awk '$1 < 3' | wc -l)" \
    "file names in several folders" "$(sources $stages | xargs -n1 basename | sort | uniq -d | wc -l)" \
    "lines of tests (C and scripts)" "$(files tests | grep -E '\.(c|h|cc|S|sh|bash|awk|py)$' | lines)" \
    "lines of bench" "$(files bench | grep -E '\.(c|h|f90|sh|bash|jq|awk|py)$' | lines)" \
    "lines of documents" "$(files README.md docs | grep '\.md$' | lines)"
