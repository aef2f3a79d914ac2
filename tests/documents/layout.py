#!/usr/bin/env python3
"""Documents can be read and followed.  Prints what is not so, status 1 if anything.

- A line has at most 120 characters, but for tables; `make format` lays prose out.
- A link leads to a file of the tree, and so does a path in `code` that begins with a folder of the tree.  A row of a table
  that begins with folders names only sources in them.
- A paragraph has at most six links.
"""
import glob
import os
import re
import subprocess
import sys

FOLDERS = "gcc-plugin|binlift|runtime|measure|fit|sched|machines|ask|report|cmd|core|bench|tests|docs"
# What is made, or stands for a name.
MADE = re.compile(r"NAME|\.\.\.|…|[*{}<>$]|\bCOMMAND\b|\bTARGET\b|\bTEST\b")


def main():
    files = subprocess.run(["git", "ls-files", "*.md"], capture_output=True, text=True).stdout.split() or glob.glob(
        "**/*.md", recursive=True)
    bad = []
    for name in files:
        if name.startswith("build") or not os.path.exists(name):
            continue
        text = open(name, encoding="utf-8").read()
        fenced = False
        for number, line in enumerate(text.split("\n"), 1):
            if line.startswith("```"):
                fenced = not fenced
            if len(line) > 120 and not line.startswith("|"):
                bad.append(f"{name}:{number}: {len(line)} characters")
            if fenced or line.startswith("    "):
                continue
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", line):
                path = os.path.normpath(os.path.join(os.path.dirname(name), target))
                if "://" not in target and not os.path.exists(path):
                    bad.append(f"{name}:{number}: a link to {path}, which does not exist")
            for path in re.findall(r"`((?:%s)/[^`\s]*)`" % FOLDERS, line):
                path = path.split(":")[0]
                beside = os.path.join(os.path.dirname(name), path)
                if not MADE.search(path) and not os.path.exists(path) and not os.path.exists(beside):
                    bad.append(f"{name}:{number}: names {path}, which does not exist")
            # A row about folders names files that are in them.
            folders = re.findall(r"`((?:%s)/[^`\s]*/)`" % FOLDERS, line.split("|")[1]) if line.startswith("| `") else []
            for source in re.findall(r"`([a-z_]+\.(?:c|cc|awk))`", line) if folders else []:
                if not any(os.path.exists(folder + source) for folder in folders):
                    bad.append(f"{name}:{number}: names {source}, which is not in {folders[0]}")
        for paragraph in re.split(r"\n\s*\n", text):
            if not paragraph.startswith("|") and len(re.findall(r"\]\(|`docs/", paragraph)) > 6:
                bad.append(f"{name}: a paragraph of many links: {paragraph[:60]}")
    if bad:
        print(*bad, sep="\n")
    sys.exit(bool(bad))


main()
