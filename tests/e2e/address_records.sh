# Of whole programs every histogram is the same to the bit whether address records are analysed as they are or
# taken apart into accesses (PMODEL_ACCESSES), exactly, sampled and with bounded memory; so are the bytes
# that each group is the first to touch.
. "$TOP/tests/lib.sh"
. "$TOP/tests/rewrite/rewrite.bash"

# The same addresses in both runs.
fixed='setarch -R'
$fixed true 2>/dev/null || fixed=

# measured WHERE SWITCH SETTINGS ARGUMENT...: histograms and bytes into WHERE.txt.  Environments are of the
# same length, so that stacks are where they were.
measured() {
    local where=$1 switch=$2 settings=$3
    shift 3
    rm -rf "$where.raw" && mkdir "$where.raw"
    # shellcheck disable=SC2086 # several words
    PMODEL_OUT=$TMP/$where.raw PMODEL_BLOCK=32,64,4096 PMODEL_BYTES=1 env "$switch=1" $settings $fixed ./copy "$@" \
        >"$where.out" 2>&1 || return
    "$tool" -d "$where".raw/*.raw 2>>"$where.out" | sort >"$where.txt"
}

# The programs and arguments are small ones of bench/apps/sizes.conf.
while read -r app arguments; do
    check "$app can be instrumented" pmodel run --instrument -q -o copy "$BUILD/apps/$app" || continue
    for settings in PMODEL_SAMPLE=1 PMODEL_SAMPLE=8 PMODEL_MAX_BLOCKS=900 \
        'PMODEL_SAMPLE=4 PMODEL_MAX_BLOCKS=100 PMODEL_BIN_WIDTH=0'; do
        # shellcheck disable=SC2086 # several words
        measured whole PMODEL_TOGETHER "$settings" $arguments &&
            measured apart PMODEL_ACCESSES "$settings" $arguments
        check "$app, $settings: something was measured" test "$(grep -c ' block 64 ' whole.txt)" -gt 8
        check "$app, $settings: the same histograms" cmp whole.txt apart.txt
        rm -f whole.txt apart.txt
    done
done <<'END'
heat 24 3
adi 12 1
cg 8 2
fft 1024 1
matmul 32 blocked
multigrid 16 2
ssor 12 1
sweep 8 1 4 3
END
