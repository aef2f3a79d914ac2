# Strides, of the compiler and of the code alone, are those of a trace that valgrind's lackey makes. A choice of
# the applications; `make validate` has them all.
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"

truth_tool check_strides || {
    fail "check_strides builds"
    exit
}

while read -r app arguments; do
    # shellcheck disable=SC2086 # several arguments
    { truth_app "$app" -no-pie && truth_lackey "$app" $arguments; } >"$app.out" 2>&1 || {
        fail "$app builds and runs" "$(tail -3 "$app.out")"
        continue
    }
    show "strides of $app are those of a trace" ./check_strides "$app" "$app.lackey"
done <<'APPS'
heat 8 2
cg 6 1
fft 16 1
APPS

# The comparison itself: addresses that move otherwise are seen.
awk '/^ [LSM]/ && NR % 5 == 0 { $2 = "1" $2; print " " $0; next } { print }' heat.lackey >wrong.lackey
expect_error_output() {
    ./check_strides heat wrong.lackey >wrong.out
    [ $? -eq 3 ] && grep -q 'not explained' wrong.out
}
check "other steps are seen to differ" expect_error_output
