# What a newcomer asks first: --help has each option in 80 columns, and an example, `pmodel help WORD`, completion in
# bash, and what `pmodel doctor` says of a system that lacks something.
. "$TOP/tests/lib.sh"

while read -r page command; do
    # shellcheck disable=SC2086
    pmodel $command --help >help 2>errors
    if [ "$(grep -v ^example: help | wc -L)" -gt 80 ] || ! grep -q '^example: ' help ||
        ! grep -q '^usage: pmodel ' help; then
        fail "$command --help has usage and example, in 80 columns" "$(grep -E '.{81}' help)"
    else
        pass "$command --help has usage and example, in 80 columns"
    fi
    # shellcheck disable=SC2086
    for option in $(pmodel help --list $command); do
        [ "$option" = --help ] || [ "$option" = --as ] || grep -qE -e "(^| )$option(,| |\$)" help || echo "$option"
    done >missing
    if [ -s missing ]; then
        fail "$command --help has all its options" "$(head -n 1 missing)"
    else
        pass "$command --help has all its options"
    fi
    if [ -e "$TOP/docs/pmodel-$page.md" ]; then
        pass "$command has a manual page"
    else
        fail "$command has a manual page" "docs/pmodel-$page.md is missing"
    fi
done < <(pmodel help --page)
check "the pages have the options that the commands have" "$TOP/tests/pages"
check "an example names no option that there is not" bash -c '
    pmodel help --page | while read -r _ command; do
        pmodel $command --help | sed -n -e "s/^example: pmodel //" -e "s/ -- .*//" -e "s/#.*//p" |
            while read -r name words; do
                for word in $words; do
                    case $word in
                    --[a-z]*) pmodel help --list $name $words | grep -qx -e "$word" || exit 1 ;;
                    esac
                done
            done || exit 1
    done'

# is NAME EXPECTED COMMAND...: the command prints this.
is() {
    local name=$1 expected=$2 printed
    shift 2
    printed=$("$@" 2>&1)
    if [ "$printed" = "$expected" ]; then
        pass "$name"
    else
        fail "$name" "it printed \"$printed\""
    fi
}
is "a column of the report is explained" \
    'L1/it: Misses of a level for each iteration of the loop; of a routine, for each call.
More: docs/reading-a-report.md.' pmodel help L1/it
check "a column of another level is, too" pmodel help TLB2/ki
check "an option is explained" sh -c 'pmodel help carry | grep -q "pmodel run "'
check "a command is" sh -c 'pmodel help fit | grep -q "^usage: pmodel fit"'
expect_error "a word that there is not" 2 'did you mean reuse distance' pmodel help 'reuse distanse'

# Every command that a document names, in `code` or in a line of its own, has the options that it names.
documents=(README.md docs/{manual,wishes,tutorial,mistakes,reading-a-report,parallel-programs}.md)
for document in "${documents[@]}"; do
    { grep -oE '`pmodel [a-z]+ [^`]*`' "$TOP/$document" | tr -d '`'
        grep -E '^(    )?(\$ )?pmodel ' "$TOP/$document" | sed -E 's/^ *(\$ )?//; s/  #.*//'; } |
        sed 's/ -- .*//' | while read -r _ command words; do
        # shellcheck disable=SC2086
        pmodel help --list "$command" $words >options || echo "$command"
        for option in $(printf '%s\n' "$words" | grep -oE -e '(^| )--[a-z-]+'); do
            grep -qx -e "$option" options || echo "$command $option"
        done
    done >missing
    if [ -s missing ]; then
        fail "the commands of $document exist" "$(head -n 1 missing)"
    else
        pass "the commands of $document exist"
    fi
done

# ---- completion ----------------------------------------------------------------------------------

touch a.pmdb b.txt
complete_words() { # WORD... : what bash offers for the last one
    bash -c '. "$BUILD/share/bash-completion/completions/pmodel"
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _pmodel
        echo "${COMPREPLY[*]}"' completion "$@"
}
is "commands are completed" 'report' complete_words pmodel repo
is "options are" '--fields --filter --fits' complete_words pmodel report --fi
is "views are" 'formulas folded' complete_words pmodel report --as fo
is "options of a view are" '--source --source-dir' complete_words pmodel report --as loop --so
is "options of run are those of plan" '--second-core' complete_words pmodel plan --sec
is "machines are" 'r12000' complete_words pmodel report -m r12
is "stores are" 'a.pmdb' complete_words pmodel report ''
is "formats are" 'json' complete_words pmodel report --format js
is "other values are" 'pessimistic' complete_words pmodel report --deps p

# ---- doctor --------------------------------------------------------------------------------------

check "nothing is broken here" pmodel doctor
state() { # NAME: of doctor.json
    jq -r --arg name "$1" '.checks[] | select(.name == $name) | .state' doctor.json
}
pmodel doctor --format json >doctor.json
for name in processor plugin gcc g++ gfortran 'mount namespaces' measuring; do
    is "$name is looked at" fine state "$name"
done
# Another compiler under the usual name, and none at all.
mkdir other
ln -s "$(command -v gcc-11)" other/gcc
PATH=$TMP/other:$PATH pmodel doctor --format json >doctor.json
is "a compiler that the plugin is not for is seen" limited state gcc
check "it is said what to do" sh -c 'jq -r ".checks[].mend" doctor.json | grep -q "with the plugin it does not compile"'
mkdir few
ln -s "$BUILD/bin/pmodel" few/pmodel
PATH=$TMP/few pmodel doctor --format json >doctor.json 2>errors
is "no compiler is seen" limited state gcc
is "measuring cannot be tried then" limited state measuring
check "nothing is left behind" sh -c '! ls "${TMPDIR:-/tmp}" | grep pmodel-doctor'
