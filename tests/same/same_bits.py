"""Asks stores (stores.bash) by all commands, and compares bits.

same_bits.py STORES: each line a store, a size that was measured and one that was not, or -

One figure has one value, whatever was worked out before it in the process: machines, sizes, programs and caches are asked for
in several orders, by themselves and beside others, once and twice. And one output has one text, whatever the environment: threads,
what fresh memory holds, and how long the environment is differ between two runs of each command."""
import csv, functools, io, json, os, random, subprocess, sys, tempfile


ON, OTHER = "sapphire-rapids", "r12000"
PLAIN = dict(os.environ, OMP_NUM_THREADS="1")
UNLIKE = dict(os.environ, OMP_NUM_THREADS="4", MALLOC_PERTURB_="173", PMODEL_TEST_LONGER_ENVIRONMENT="x" * 1234)
random.seed(45)

def run(*arguments, environment=PLAIN):
    done = subprocess.run(["pmodel", *arguments], capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"pmodel {' '.join(arguments)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout

@functools.cache # most tests begin with the same questions
def ask(*arguments):
    return json.loads(run(*arguments, "--format", "json"))

def report(store, at, machines, *more):
    """Predictions by machine: all that JSON has of each."""
    answer = ask("report", store, "-m", ",".join(machines), "-P", at, "--min-percent", "0", "--notes", *more)
    return {p["machine"]["name"]: p for p in answer["predictions"]}

def first_difference(one, two, place=""):
    """Where ONE and TWO, both of JSON, differ; None: nowhere."""
    if isinstance(one, dict) and isinstance(two, dict):
        for key in one.keys() | two.keys():
            found = first_difference(one.get(key), two.get(key), f"{place}.{key}")
            if found:
                return found
        return None
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for i, (left, right) in enumerate(zip(one, two)):
            found = first_difference(left, right, f"{place}[{i}]")
            if found:
                return found
        return None
    return None if one == two else f"{place}: {one!r}, and {two!r}"

def is_size(at):
    return at != "-"

def values(at):
    return dict(pair.split("=") for pair in at.split(","))

def neighbours(at):
    """Three sizes up to AT in its first parameter, as text."""
    rest = [f"{name}={value}" for name, value in list(values(at).items())[1:]]
    name, value = next(iter(values(at).items()))
    return name, [str(int(value) - 2), str(int(value) - 1), value], [o for pair in rest for o in ("-P", pair)]

# ---- orders --------------------------------------------------------------------------------------

def machines_in_any_order(store, at, new):
    alone = report(store, at, [ON])[ON]
    return first_difference(alone, report(store, at, [ON, OTHER])[ON]) or \
        first_difference(alone, report(store, at, [OTHER, "zen4", ON, "power3"], "--interpolate")[ON]) or \
        first_difference(report(store, at, [OTHER])[OTHER], report(store, at, [ON, OTHER])[OTHER])

def sizes_in_any_order(store, at, new):
    """Of `--as scaling`, and of the size by itself."""
    if not is_size(new):
        return None
    name, sizes, rest = neighbours(new)
    def points(sizes, machines):
        answer = ask("report", "--as", "scaling", store, "-m", ",".join(machines), "-P", f"{name}={','.join(sizes)}", *rest)
        return {(str(point["parameters"][name]), f["machine"], f["source"]): f for point in answer["sizes"] for f in point["figures"]}
    one, two = points(sizes, [ON, OTHER]), points(random.sample(sizes, len(sizes)), [OTHER, ON])
    last = points(sizes[-1:] + [str(int(sizes[-1]) + 5)], [ON])
    return first_difference({str(k): v for k, v in one.items()}, {str(k): v for k, v in two.items()}) or \
        first_difference(one[sizes[-1], ON, "predicted"], last[sizes[-1], ON, "predicted"])

def queries_in_any_order(store, at, new):
    size = new if is_size(new) else at
    name, sizes, rest = neighbours(size)
    sizes = sizes if is_size(new) else sizes[-1:]
    def answers(sizes, machines, *more):
        found = ask("query", store, "-m", ",".join(machines), "-P", f"{name}={','.join(sizes)}", *rest, "--level", "loop", *more)
        return {json.dumps([a["parameters"], a["part"], a["cache"]], sort_keys=True): a for a in found["answers"]}
    one, two = answers(sizes, [ON, OTHER]), answers(sizes[::-1], [OTHER, ON])
    alone = answers(sizes[-1:], [ON])
    return first_difference(one, two) or first_difference({k: one[k] for k in alone}, alone)

def programs_in_any_order(store, at, new):
    size = new if is_size(new) else at
    def seconds(programs, machines):
        found = ask("compare", *programs, "-m", ",".join(machines))["machines"]
        return {m["name"]: m["seconds"] for m in found}
    one = seconds([f"{store}@{size}", f"{store}@{at}"], [ON, OTHER])
    two = seconds([f"{store}@{at}", f"{store}@{size}"], [OTHER, ON])
    return first_difference(one, {name: found[::-1] for name, found in two.items()})

# ---- one figure in several views -----------------------------------------------------------------

def read_twice(store, at, new):
    answer = ask("diff", store, store, "-m", ON, "-P", at, "--min-percent", "0")
    alone = report(store, at, [ON])[ON]
    rows = {row["key"]: row["self_seconds"] for row in alone["rows"] if row.get("key") and "self_seconds" in row}
    for row in answer["rows"]:
        found = first_difference(row["before"], row["after"])
        if found:
            return found
        if row["before"] and row["key_before"] in rows and row["before"]["seconds"] != rows[row["key_before"]]:
            return f"{row['key_before']}: {row['before']['seconds']!r}, {rows[row['key_before']]!r} in the report"
    return first_difference(answer["before"]["seconds"], alone["seconds"])

def csv_as_json(store, at, new):
    size = new if is_size(new) else at
    lines = csv.DictReader(io.StringIO(run("report", store, "-m", ON, "-P", size, "--min-percent", "0", "--format", "csv")))
    in_csv = {line["key"]: float(line["self_seconds"]) for line in lines if line.get("key") and line["self_seconds"]}
    rows = report(store, size, [ON])[ON]["rows"]
    in_json = {row["key"]: row["self_seconds"] for row in rows if row.get("key") and row.get("self_seconds") is not None}
    return "no rows" if not in_csv.keys() & in_json.keys() else \
        first_difference({k: in_csv[k] for k in in_csv if k in in_json}, {k: in_json[k] for k in in_csv if k in in_json})

def report_as_scaling(store, at, new):
    """Seconds with their ends, and misses, of a report and in a range of sizes."""
    if not is_size(new):
        return None
    name, sizes, rest = neighbours(new)
    for point in ask("report", "--as", "scaling", store, "-m", f"{OTHER},{ON}", "-P", f"{name}={','.join(sizes)}", *rest)["sizes"]:
        for machine in (ON, OTHER):
            if str(point["parameters"][name]) != sizes[-1]:
                continue
            figures = next(f for f in point["figures"] if f["machine"] == machine and f["source"] == "predicted")
            alone = report(store, new, [machine])[machine]
            found = first_difference([figures[k] for k in ("seconds", "low_seconds", "high_seconds")],
                                     [alone[k] for k in ("seconds", "low_seconds", "high_seconds")]) or \
                first_difference(figures["level_misses"], alone["scopes"][0]["total"]["misses"])
            if found:
                return f"{machine}: {found}"
    return None

def report_as_query(store, at, new):
    """Misses of the program; of threads a report is of the slowest cores, and both say so."""
    for size in filter(is_size, (at, new)):
        each = [o for name, value in values(size).items() for o in ("-P", f"{name}={value}")]
        answers = ask("query", store, "-m", ON, *each)["answers"]
        alone = report(store, size, [ON])[ON]
        if alone.get("cores"):
            notes = json.dumps(alone["notes"]) if "notes" in alone else json.dumps(alone)
            if not all(a.get("threads_together") for a in answers) or "all threads together" not in notes:
                return "nobody says that misses are of one core, or of all threads"
            continue
        found = first_difference({a["cache"]["name"]: a["misses"] for a in answers}, alone["scopes"][0]["total"]["misses"])
        if found:
            return f"at {size}: {found}"
    return None

# ---- one text in any environment -----------------------------------------------------------------

def texts(store, at, new):
    size = new if is_size(new) else at
    name, sizes, rest = neighbours(size)
    follow = ["-P", f"{name}={','.join(sizes)}", *rest]
    each = [o for pair in size.split(",")[1:] for o in ("-P", pair)]
    on = ["-m", f"{ON},{OTHER}"]
    loop = next((r["key"] for r in report(store, size, [ON])[ON]["rows"] if r.get("key")), None)
    some = [["report", store, *on, "-P", size, "--format", "csv"], ["report", store, *on, "-P", size, "--notes"],
            ["report", "--as", "tree", store, *on, "-P", size], ["report", "--as", "roofline", store, "-m", ON, "-P", size],
            ["report", "--as", "callgrind", store, "-m", ON, "-P", size], ["report", "--as", "folded", store, "-m", ON, "-P", size],
            ["report", "--as", "loop", store, "-m", ON, "-P", size], ["report", "--time", "signature", store, *on, "-P", size],
            ["query", store, *on, *each, "--format", "csv"], ["query", store, *each, "--hit-ratio", "0.5,0.9", "--level", "loop"],
            ["show", "--as", "histograms", store, "-P", at, "--format", "json"], ["show", store],
            ["compare", f"{store}@{size}", *on, "--format", "csv"]]
    if is_size(new):
        some += [["report", "--as", "scaling", store, *on, *follow, "--format", "csv"], ["report", "--as", "formulas", store, "-P", size],
                 ["query", store, *on, "--fits"], ["report", "--as", "extrap", store, "-m", ON]]
    return some

def status_and_text(arguments, environment):
    done = subprocess.run(["pmodel", *arguments], capture_output=True, text=True, env=environment)
    return done.returncode, done.stdout, done.stderr

def any_environment(store, at, new):
    for arguments in texts(store, at, new):
        one, two = status_and_text(arguments, PLAIN), status_and_text(arguments, UNLIKE)
        if one[0] < 0 or two[0] < 0:
            return f"pmodel {' '.join(arguments)}: signal"
        for left, right in zip(one[1].splitlines() + one[2].splitlines(), two[1].splitlines() + two[2].splitlines()):
            if left != right:
                return f"pmodel {' '.join(arguments)}: {left!r}, and {right!r}"
        if one != two:
            return f"pmodel {' '.join(arguments)}: one is longer"
    return None

def page_in_any_environment(store, at, new):
    size = new if is_size(new) else at
    pages, parameters = [], [o for pair in size.split(",")[1:] for o in ("-P", pair)]
    with tempfile.TemporaryDirectory() as folder:
        for environment in (PLAIN, UNLIKE):
            run("report", "--as", "page", store, "-m", f"{ON},{OTHER}", "--sizes", "3", *parameters, "-o", f"{folder}/page.html", environment=environment)
            pages.append(open(f"{folder}/page.html", "rb").read())
    return None if pages[0] == pages[1] else "the pages differ"

def models_in_any_environment(store, at, new):
    """Models that are made on one thread and on several, with their predictions."""
    if not is_size(new):
        return None
    answers = []
    with tempfile.TemporaryDirectory() as folder:
        for number, environment in enumerate((PLAIN, UNLIKE)):
            copy = f"{folder}/{number}.pmdb"
            open(copy, "wb").write(open(store, "rb").read())
            subprocess.run(["pmodel", "fit", copy], capture_output=True, env=environment, check=True)
            answers.append([report(copy, new, [ON]), run("report", "--as", "formulas", copy, "-P", new)])
    return first_difference(*answers)

TESTS = [machines_in_any_order, sizes_in_any_order, queries_in_any_order, programs_in_any_order, read_twice, csv_as_json,
         report_as_scaling, report_as_query, any_environment, page_in_any_environment, models_in_any_environment]

def try_it(task):
    (store, at, new), test = task
    try:
        wrong = test(f"{store}.pmdb", at, new)
    except RuntimeError as why:
        wrong = str(why)
    return f"{'FAIL' if wrong else 'ok'} - {store}: {test.__name__.replace('_', ' ')}" + (f": {wrong}" if wrong else "")

stores = [line.split() for line in open(sys.argv[1])]
tasks = [(store, test) for store in stores for test in TESTS]
for line in map(try_it, tasks):
    print(line, flush=True)
