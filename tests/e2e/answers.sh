# One question has one answer: whichever command is asked for the time and the misses of a program at a size on a machine, its
# figures are those of `pmodel report` to the bit, of programs with one thread, with OpenMP and with MPI, at sizes that were
# measured and at sizes that never ran, whatever else was asked for in the same call.
. "$TOP/tests/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

cp "$TOP"/bench/apps/threads/*.[ch] "$TOP/bench/apps/heat/heat.c" "$TOP/tests/golden/chain.c" .
gcc -O2 -g "$(pmodel flags)" -o heat heat.c -lm
gcc -O1 -g -fopenmp "$(pmodel flags)" -o triangle triangle.c
# shellcheck disable=SC2046
mpicc.openmpi -O1 -g $(pmodel flags) -o chain chain.c
machines=sapphire-rapids,r12000
pmodel run -q -o heat.pmdb -m "$machines" -P N=10,12,14,16,18 -- ./heat '{N}' >/dev/null
pmodel run -q -o triangle.pmdb -m "$machines" --env 'OMP_NUM_THREADS={p}' -P p=1,2,3 -P N=40,60,80 -- ./triangle '{N}' 3 >/dev/null
pmodel run -q -o chain.pmdb -m "$machines" -P N=10,20,30,40 -P p=2,3,4,6 --exe ./chain -- mpirun.openmpi -np '{p}' ./chain '{N}' >/dev/null 2>&1
for program in heat triangle chain; do
    pmodel fit $program.pmdb >/dev/null 2>&1
done

python3 - <<'EOF_PYTHON'
import json, subprocess

BUILD = {"heat": "heat.c", "triangle": "triangle.c", "chain": "chain.c"}
ON, OTHER = "sapphire-rapids", "r12000"

def run(*arguments):
    done = subprocess.run(["pmodel", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or done.stdout.strip())
    return done.stdout

def ask(*arguments):
    return json.loads(run(*arguments, "--format", "json"))

def size(at):
    return ",".join(f"{name}={value}" for name, value in at.items())

def program(prediction):
    return {"seconds": prediction["seconds"], "low": prediction["low_seconds"], "high": prediction["high_seconds"]}

def loops(rows, key, seconds):
    return {row[key]: row[seconds] for row in rows if row.get(key) and seconds in row}

# ---- each view, as figures that `pmodel report` has as well ----

def report(store, at):
    prediction = ask("report", store, "-m", ON, "-P", size(at), "--min-percent", "0")["predictions"][0]
    total = prediction["scopes"][0]["total"]
    return program(prediction) | {
        "loops": loops(prediction["rows"], "key", "self_seconds"),
        "labels": loops(prediction["rows"], "label", "self_seconds"),
        "misses": total["misses"], "cycles": round(total["cycles"])}

def report_of_several(store, at):
    predictions = ask("report", store, "-m", f"{OTHER},{ON}", "-P", size(at), "--min-percent", "0")["predictions"]
    prediction = next(p for p in predictions if p["machine"]["name"] == ON)
    return program(prediction) | {"loops": loops(prediction["rows"], "key", "self_seconds")}

def explain(store, at):
    answer = ask("report", "--as", "loop", store, "-m", ON, "-P", size(at))
    return {"seconds": answer["seconds"], "labels": {answer["loop"]["label"]: answer["loop"]["self_seconds"]}}

def annotate(store, at):
    return {"seconds": ask("report", "--as", "source", store, BUILD[store[:-5]], "-m", ON, "-P", size(at))["seconds"]}

def diff(store, at):
    answer = ask("diff", store, store, "-m", ON, "-P", size(at), "--min-percent", "0")
    rows = [{"key": row["key_before"], "seconds": row["before"]["seconds"]} for row in answer["rows"] if row["before"]]
    return program(answer["before"]) | {"loops": loops(rows, "key", "seconds")}

def compare(store, at):
    machines = ask("compare", f"{store}@{size(at)}", "-m", f"{OTHER},{ON}")["machines"]
    seconds = next(m for m in machines if m["name"] == ON)["seconds"][0]
    return {"seconds": seconds["estimate"]}

def scale(store, at):
    follow = [option for name, value in at.items()
              for option in ("-P", f"{name}={value}" if name != "N" else f"N={value - 1},{value}")]
    for point in ask("report", "--as", "scaling", store, "-m", f"{OTHER},{ON}", *follow)["sizes"]:
        if point["parameters"]["N"] == at["N"]:
            return [{"seconds": figures["seconds"], "low": figures["low_seconds"], "high": figures["high_seconds"],
                     "misses": figures["level_misses"], "source": figures["source"]}
                    for figures in point["figures"] if figures["machine"] == ON]

def roofline(store, at):
    points = ask("report", "--as", "roofline", store, "-m", ON, "-P", size(at), "--min-percent", "0")["programs"][0]["points"]
    return {"loops": loops(points, "key", "seconds")}

def callgrind(store, at):
    lines = run("report", "--as", "callgrind", store, "-m", ON, "-P", size(at)).splitlines()
    return {"cycles": int(next(line for line in lines if line.startswith("totals:")).split()[1])}

def query(store, at):
    each = [option for name, value in at.items() for option in ("-P", f"{name}={value}")]
    return {"misses": {a["cache"]["name"]: a["misses"] for a in ask("query", store, "-m", ON, *each)["answers"]}}

def validate(store, at):
    """What the models say before the size is run; of the program with a command line that is known."""
    answer = json.loads(run("validate", "-q", "--format", "json", "-s", store, "-m", ON, "-P", size(at), "--", "./heat", "{N}"))
    return {"seconds": next(c["predicted"] for c in answer["sizes"][0]["comparisons"]
                            if c["quantity"] == "seconds")}

# ---- all views of all questions ----

def differs(found, expected):
    """Which figures of `found` are not those of `expected`; only what both have is compared."""
    wrong = []
    for name, value in found.items():
        if name == "source" or name not in expected or value is None:
            continue
        if isinstance(value, dict):
            both = [key for key in value if key in expected[name]]
            if not both:
                wrong.append(f"{name}: nothing to compare")
            wrong += [f"{name} {key}: {value[key]!r}, not {expected[name][key]!r}" for key in both
                      if value[key] != expected[name][key]]
        elif value != expected[name]:
            wrong.append(f"{name}: {value!r}, not {expected[name]!r}")
    return wrong

QUESTIONS = {
    "heat": [{"N": 18}, {"N": 40}],
    "triangle": [{"p": 2, "N": 80}, {"p": 2, "N": 200}, {"p": 4, "N": 100}],
    "chain": [{"N": 40, "p": 4}, {"N": 60, "p": 8}],
}
VIEWS = [report_of_several, explain, annotate, diff, compare, scale, roofline, callgrind, query]

expected = report("heat.pmdb", {"N": 22})
wrong = differs(validate("heat.pmdb", {"N": 22}), expected)
print(f"FAIL - heat at N=22: validate: {'; '.join(wrong)}" if wrong else "ok - heat at N=22: validate")

for name, sizes in QUESTIONS.items():
    store = f"{name}.pmdb"
    for at in sizes:
        expected = report(store, at)
        measured = ask("report", store, "-m", ON, "-P", size(at))["predictions"][0]["measured_at_this_size"]
        for view in VIEWS:
            title = f"{name} at {size(at)}: {view.__name__}"
            if view is query and name == "triangle":
                continue  # a query is of all threads, a report of those on the core that takes longest
            try:
                found = view(store, at)
                if view is scale:  # a measured size has a point of the models beside that of the run
                    found = next(point for point in found if (point["source"] == "measured") == measured)
                wrong = differs(found, expected)
            except RuntimeError as why:
                no_flops = view is roofline and "no floating-point" in str(why)
                wrong = [] if no_flops else [str(why)]
            print(f"FAIL - {title}: {'; '.join(wrong[:3])}" if wrong else f"ok - {title}")

# ---- ranks: a role by itself, and in the list of all ----

def groups(at):
    return ask("report", "--as", "ranks", "chain.pmdb", "-m", ON, "-P", size(at))["reports"][0]["groups"]

for group in groups({"N": 60, "p": 8}):
    alone = program(ask("report", "chain.pmdb", "--role", group["role"], "-m", ON, "-P", "N=60,p=8")["predictions"][0])
    print(("ok" if alone["seconds"] == group["seconds"] else "FAIL")
          + f" - ranks of role {group['role']}: {group['seconds']!r} in --as ranks, {alone['seconds']!r} with --role")
EOF_PYTHON
