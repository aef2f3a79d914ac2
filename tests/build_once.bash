# What several scripts build the same way is built once: `. "$TOP/tests/build_once.bash"`. tests/run
# gives all of its scripts one folder BUILT; by hand, and in bench/, each has its own in $TMP.
# shellcheck shell=bash

# build_once KEY FILE COMMAND...: FILE, which COMMAND makes, or a copy of what it made for another script
# that used the same KEY. A key holds all that decides what is made, but for what is built in $BUILD.
build_once() {
    local folder=${BUILT:-$TMP/built} kept file=$2
    kept=$folder/${1//[!A-Za-z0-9_.=-]/_}
    shift 2
    mkdir -p "$folder"
    (
        flock 8
        [ -e "$kept" ] || { "$@" 8>&- && cp -p "$file" "$kept.new" && mv "$kept.new" "$kept"; }
    ) 8>"$kept.lock" || return
    rm -f "$file"
    cp -p "$kept" "$file"
}
