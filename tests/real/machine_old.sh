# Files of old machines beside GCC's scheduling descriptions of their processors: each figure that is not as GCC's is known, with a reason,
# and what is known is still so (machines/checks/gcc-md.sh).  The descriptions come from Debian's package gcc-12-source.
# time limit: 300 s
. "$TOP/tests/lib.sh"
checks=$TOP/machines/checks

sources=(/usr/src/gcc-12/gcc-12*.tar.*)
check "GCC's source is there" test -e "${sources[0]}" || exit
names=()
for map in "$checks"/*.map; do
    names+=("$(awk '$1 == "file" { print "*/gcc/config/" $2 }' "$map")")
done
# All of the archive would be 900 MB.
check "its descriptions unpack" tar -xf "${sources[0]}" --strip-components=3 --wildcards "${names[@]}" || exit

for map in "$checks"/*.map; do
    name=$(basename "$map" .map)
    file=$(awk '$1 == "file" { print $2 }' "$map")
    "$checks/gcc-md.sh" --summary "$name" "$file" >"$name.summary"
    jq -r --arg name "$name" '"\($name): \(.agreeing) of \(.rows) rows agree, \(.unverified) are unverified, \(.differences) figures differ"' "$name.summary"
    check "$name: what differs from GCC is listed, with a reason" jq -e '.rows > 0 and .not_listed == []' "$name.summary"
    check "$name: what is listed differs" jq -e '.gone == []' "$name.summary"
    check "$name: the map names all reservations, units and bypasses" jq -e '.lacking == []' "$name.summary"
done

# ---- and a new difference is seen

pmodel machines r12000 --format json >r12000.json
jq '(.costs[] | select(.class == "fp_mult") | .latency) += 1' r12000.json >changed.json
"$checks/gcc-md.sh" --json changed.json r12000 mips/10000.md >changed.out
check "another latency fails" test $? -eq 1
check "and is named" grep -qx "not listed with a reason: fp_mult 64 8 latency: ours 3, GCC's 2" changed.out
jq '(.costs[] | select(.class == "int_div") | .latency) -= 1' r12000.json >agreeing.json
"$checks/gcc-md.sh" --json agreeing.json r12000 mips/10000.md >agreeing.out
check "a listed difference that is gone is named" grep -q '^listed, but no longer so: int_div 32 4 latency' agreeing.out
jq '.costs |= map(.unverified = ["latency"])' r12000.json >unverified.json
check "unverified rows do not count as agreeing" jq -e '.agreeing == 0 and .unverified > 0' \
    <("$checks/gcc-md.sh" --json unverified.json --summary r12000 mips/10000.md)
jq '(.figures[] | select(.name == "bypass/1.latency") | .number) = 3' r12000.json >bypass.json
"$checks/gcc-md.sh" --json bypass.json r12000 mips/10000.md >bypass.out
check "another bypass is named" grep -q '^not listed.*fp_fma bypass: ours 3' bypass.out
sed 's/"r10k_fpdiv \* 14"/"r10k_fpdiv * 15"/' mips/10000.md >other.md
"$checks/gcc-md.sh" r12000 other.md >other.out
check "so are other cycles on GCC's side" grep -q "fp_div 32 4 repeat: ours 14, GCC's 15" other.out
sed 's/"r10k_load"/"r10k_loads"/' mips/10000.md >renamed.md
"$checks/gcc-md.sh" r12000 renamed.md >renamed.out
check "a reservation that the map lacks is named" grep -qx 'the map has no line for r10k_loads' renamed.out
expect_error "a machine without a map is refused" 2 'icelake-sp.map, which says' "$checks/gcc-md.sh" icelake-sp mips/10000.md
