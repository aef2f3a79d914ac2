#!/usr/bin/env python3
"""Runs the commands of a page's samples, and compares what they print with what the page shows.

    console.py PAGE [SKIPPED]            in the current folder; prints "ok - COMMAND" and "FAIL - COMMAND: why"
    console.py --renew PAGE [SKIPPED]    writes what was printed into the page, where it differs

SKIPPED: a regular expression; commands that begin so are not run.  A sample is a block of ```console, or an indented one: lines
`$ COMMAND`, each with its output below it, both streams, until the block ends.  A command without output on the page may
print what it wants.  In what is shown, a line
`…` stands for any number of lines and `…` inside a line for any text.  Commands are run by one bash, one after another, so
that what one sets is there for the next, in a terminal of 118 columns.  Spaces count as one, and a number with a point may be
3% off, or one in its last digit: where the stack of a measured program begins decides the last digits of pages and of models.
"""
import difflib
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios


def samples(lines):
    """(number of the line after the command, its indentation, command, lines shown) of each command of the page."""
    inside, found, open_block = False, [], False
    for number, line in enumerate(lines):
        if line.startswith("```"):
            inside = not inside and line.startswith("```console")
            open_block = False
            continue
        indent = "" if inside else "    "
        if not (inside or line.startswith(indent)) and not (open_block and not line):
            open_block = False
        elif line.startswith(indent + "$ "):
            found.append((number + 1, indent, line[len(indent) + 2:].split("  #")[0].rstrip(), []))
            open_block = True
        elif open_block:
            found[-1][3].append(line[len(indent):])
    for _, _, _, shown in found:
        while shown and not shown[-1]:
            shown.pop()
    return found


NUMBER = re.compile(r"([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(.*)")


def last_digit(number):
    """What one in its last digit is worth."""
    digits = number.split("e")[0]
    return 10.0 ** -len(digits.partition(".")[2]) * 10.0 ** int((number.split("e") + ["0"])[1])


def equal(shown, printed):
    """Two words: the same, or numbers with the same unit whose last digits hang on where a stack begins."""
    if shown == printed:
        return True
    if "…" in shown and "…" in printed:  # from … to
        ends = shown.split("…"), printed.split("…")
        return len(ends[0]) == len(ends[1]) and all(map(equal, *ends))
    a, b = NUMBER.fullmatch(shown), NUMBER.fullmatch(printed)
    return bool(a and b) and a.group(2) == b.group(2) and "." in a.group(1) + b.group(1) and (
        abs(float(a.group(1)) - float(b.group(1))) <= max(0.03 * abs(float(a.group(1))), 1.01 * last_digit(a.group(1))))


def line_alike(shown, printed):
    a, b = shown.split(), printed.split()
    if len(a) == len(b) and all(map(equal, a, b)):
        return True
    return "…" in shown and re.fullmatch(".*".join(map(re.escape, " ".join(a).split("…"))), " ".join(b)) is not None


def alike(shown, printed):
    if not shown:
        return not printed
    if shown[0].strip() == "…":
        return any(alike(shown[1:], printed[n:]) for n in range(len(printed) + 1))
    return bool(printed) and line_alike(shown[0], printed[0]) and alike(shown[1:], printed[1:])


def renewed(shown, printed):
    """What is shown, with the lines of today's output in place of those most like them; all of the output if that is not enough."""
    lines, at = [], 0
    for line in shown:
        if line.strip() == "…":
            lines.append(line)
            continue
        likeness = [1.0 if line_alike(line, other) else difflib.SequenceMatcher(None, line.split(), other.split()).ratio()
                    for other in printed[at:]]
        if likeness and max(likeness) > 0.4:
            at += likeness.index(max(likeness)) + 1
            lines.append(line if max(likeness) == 1.0 else printed[at - 1])
    return lines if alike(lines, printed) else printed


def main():
    renew = sys.argv[1] == "--renew"
    page, skipped = (sys.argv[1 + renew:] + ["(?!)"])[:2]
    lines = open(page, encoding="utf-8").read().split("\n")
    terminal, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 118, 0, 0))
    shell = subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=slave, stderr=slave, text=True)
    os.close(slave)
    screen = open(terminal, encoding="utf-8", errors="replace", newline="\n")
    moved = 0
    for number, indent, command, shown in samples(list(lines)):
        if re.match(skipped, command):
            continue
        shell.stdin.write(f"{command}\necho; echo console.py: $?\n")
        shell.stdin.flush()
        printed = []
        for line in screen:
            if line.startswith("console.py: "):
                break
            line = re.sub(r".*\r\x1b\[K", "", line.rstrip("\n"))  # erased: what a slow command is at
            printed.append(re.sub(r"\x1b\[[0-9;]*[A-Za-z]|\r", "", line))
        else:
            line = "console.py: the shell ended"
        if printed and printed[-1] == "":
            printed.pop()
        status = line.split(": ")[1].strip()
        if status != "0" and not (status == "1" and command.startswith("diff ")):  # they differ
            print(f"FAIL - {command}: status {status}", *printed, sep="\n    ")
        elif not shown or alike(shown, printed):
            print(f"ok - {command}")
        elif renew:
            new = [(indent + line).rstrip() for line in renewed(shown, printed)]
            lines[number + moved:number + moved + len(shown)] = new
            moved += len(new) - len(shown)
            print(f"ok - {command} (renewed)")
        else:
            print(f"FAIL - {command}: prints other lines than {page} shows", *printed, sep="\n    ")
    if renew:
        open(page, "w", encoding="utf-8").write("\n".join(lines))


main()
