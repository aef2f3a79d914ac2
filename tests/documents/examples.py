#!/usr/bin/env python3
"""Runs the EXAMPLES of the pages PAGE..., as far as the current folder has what they are about.

    examples.py PAGE...          prints "ok - PAGE: COMMAND", "FAIL - …", and to standard error what was not run

An example is run if it begins with pmodel and each program (./NAME), store (NAME.pmdb), machine file (./NAME.conf) that it
reads is in the folder, or was written by an example before it.  Each command of a pipeline must end with status 0.
"""
import os
import re
import shutil
import subprocess
import sys


def examples(page):
    inside, command = False, ""
    for line in open(page):
        if line.startswith("# "):
            inside = line.strip() == "# EXAMPLES"
        elif inside and line.startswith("    "):
            command += line.strip() + "\n"
            if not re.search(r"[\\|,+]$", line.strip()):
                yield command.strip()
                command = ""


def missing(command):
    written = re.findall(r"-o (\S+)|>\s*(\S+)", command)
    written = {name for pair in written for name in pair if name}
    for name in re.findall(r"(?<![\w/{}.])(?:\./)?[\w.]+\.(?:pmdb|conf|xml)\b|\./[\w.]+", command):
        if not os.path.exists(name) and name not in written:
            return name
    for name in re.findall(r"(?:^|\| *)([\w.]+)", command):
        if not shutil.which(name):
            return name
    return None


ran = 0
for page in sys.argv[1:]:
    name = os.path.basename(page).removesuffix(".md")
    for command in examples(page):
        if not command.startswith("pmodel ") or command.startswith("pmodel probe"):
            continue
        lacking = missing(command)
        if lacking:
            print(f"{name}: not run, there is no {lacking}: {command}", file=sys.stderr)
            continue
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
        ran += 1
        first = command.replace("\n", " ")
        if done.returncode:
            print(f"FAIL - {name}: {first}: status {done.returncode}, {done.stderr.strip()[-300:]}".replace("\n", " "))
        else:
            print(f"ok - {name}: {first}")
print(f"{ran} examples ran", file=sys.stderr)
