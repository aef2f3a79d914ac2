# tests/setup on machines that lack something: PATH holds only stand-ins for apt-get, dpkg-query,
# sudo and id, and the few tools that the script uses.
. "$TOP/tests/lib.sh"

shell=$(command -v sh)
mkdir tools
for tool in awk cat dirname env grep sed touch; do
    ln -s "$(command -v "$tool")" tools/
done

# stand_in FOLDER NAME TEXT: a small script in place of a program.
stand_in() {
    mkdir -p "$1"
    printf '#!%s\n%s\n' "$shell" "$3" >"$1/$2"
    chmod +x "$1/$2"
}

# All packages are installed but jq, which is once apt-get has been asked for it.
cat >listing <<EOF_LISTING
for package; do
    case \$package in
    -*) ;;
    jq) [ ! -e "$TMP/jq-installed" ] || echo "installed jq" ;;
    *) echo "installed \$package" ;;
    esac
done
EOF_LISTING
stand_in debian dpkg-query "$(cat listing)"
stand_in debian apt-cache 'exit 0'
stand_in debian apt-get 'echo "apt-get $*"; case "$*" in *" jq "* | *" jq") touch jq-installed ;; esac'
stand_in broken dpkg-query "$(cat listing)"
stand_in broken apt-cache 'exit 100'
stand_in broken apt-get 'echo "apt-get $*"; exit 100'
stand_in root id 'echo 0'
stand_in user id 'echo 1000'
stand_in sudo sudo 'echo "sudo $1"; exec "$@"'

# on FOLDERS PURPOSE: runs tests/setup with these folders of stand-ins in PATH.
on() {
    local path=$TMP/tools folder
    for folder in $1; do
        path=$TMP/$folder:$path
    done
    PATH=$path "$shell" "$TOP/tests/setup" "$2"
}

expect_error "a machine without apt is told all packages" 2 'libzydis-dev' on root check
expect_error "a user without sudo is told the command" 2 'apt-get install jq' on "debian user" check
expect_error "a package that apt cannot install is named" 2 'could not install: jq' \
    on "broken root" check
expect_error "an unknown purpose is refused" 2 "'chek' is none of" on "debian root" chek

on "debian root" demo >demo.out 2>&1
check "the demo asks for no package that only tests need" test ! -s demo.out

on "debian user sudo" check >installed.out 2>&1
check "a missing package is installed with sudo" grep -q '^sudo env' installed.out
check "only the missing package is asked for" grep -qE '^apt-get .* install .* jq ?$' installed.out
on "debian root" check >again.out 2>&1
check "nothing is done when nothing is missing" test ! -s again.out
