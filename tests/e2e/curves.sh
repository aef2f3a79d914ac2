# A machine's curves: drawn, and written and read again without loss.
# shellcheck shell=bash
. "$TOP/tests/lib.sh"
measured=$TOP/machines/measured/amd-25-17.conf

pmodel machines --format json "$measured" >machine.json
check "the machine has curves" jq -e '.curves | length > 20' machine.json

# ---- the drawing

check "its curves are drawn" pmodel machines --svg curves.svg "$measured"
check "the drawing is well formed" xmllint --noout curves.svg
drawn() { xmllint --xpath "count(//*[local-name() = 'path'][contains(@class, 'curve s')]/*[local-name() = 'title'])" curves.svg; }
check "each curve is in it once" test "$(drawn)" = "$(jq '.curves | length' machine.json)"
points() {
    xmllint --xpath "string(//*[local-name() = 'path'][*[local-name() = 'title'] = '$1']/@d)" curves.svg | grep -o '[ML]' | wc -l
}
name=$(jq -r '.curves[0].name' machine.json)
check "with all its points" test "$(points "$name")" = "$(jq '.curves[0].working_set_bytes | length' machine.json)"
check "a program that draws SVG reads it" rsvg-convert -o curves.png curves.svg
colours() { rsvg-convert -f png curves.svg | python3 -c 'import sys, zlib; print(len(sys.stdin.buffer.read()))'; }
check "and it is not blank" test "$(colours)" -gt 20000

no_curves() {
    ! pmodel machines --svg none.svg r12000 2>messages && [ ! -e none.svg ] && grep -q "^pmodel: r12000 has no curves to draw" messages
}
check "a machine without curves is refused with a sentence" no_curves
no_folder() {
    ! pmodel machines --svg nowhere/curves.svg "$measured" 2>messages && grep -q "nowhere/curves.svg" messages && [ "$(wc -l <messages)" = 1 ]
}
check "so is a file that cannot be written" no_folder

# ---- read again

# With a figure set, what is printed is written anew from what was read.
pmodel machines --set clock_mhz=1234 "$measured" >again.conf
pmodel machines --format json ./again.conf >again.json
check "written and read again the curves are the same" cmp <(jq .curves machine.json) <(jq .curves again.json)
