#!/usr/bin/env python3
"""Lays out the prose of a Markdown page in lines of at most 120 characters: standard input to standard output.

A paragraph or list item is laid out anew if one of its lines is longer.  Tables, code, headings and pictures stay as they
are, and no line ends inside `code` that is shorter than a line.
"""
import re
import sys

WIDTH = 120
ITEM = re.compile(r"(\s*)([-*+]|\d+\.)\s+")
# What would mean something else at the beginning of a line.
LEADS = re.compile(r"^([-+*>]|\d+[.)]|#+|\||=+)$|^(\||#+ )")


def words(text):
    """Words of a paragraph; spaces inside `code` do not part them, nor those before what may not begin a line."""
    parted = re.findall(r"(?:`[^`]*`|[^\s`]|`)+", text)
    joined = []
    for word in (piece for word in parted for piece in (word.split() if len(word) > WIDTH - 4 else [word])):
        if joined and LEADS.match(word):
            joined[-1] += " " + word
        else:
            joined.append(word)
    return joined


def fill(lines):
    item = ITEM.match(lines[0])
    first = item.group(0) if item else re.match(r"\s*", lines[0]).group(0)
    further = " " * len(first) if item else first
    filled, line = [], first
    for word in words(" ".join([lines[0][len(first):]] + lines[1:])):
        if len(line) + len(word) + 1 > WIDTH and line.strip() and line != first:
            filled.append(line.rstrip())
            line = further
        line += word if not line.strip() or line in (first, further) else " " + word
    return filled + [line.rstrip()]


def main():
    paragraph, fenced = [], False

    def end():
        if paragraph:
            long = any(len(line) > WIDTH for line in paragraph)
            sys.stdout.writelines(line + "\n" for line in (fill(paragraph) if long else paragraph))
            paragraph.clear()

    for line in sys.stdin.read().splitlines():
        if line.startswith("```"):
            fenced = not fenced
        stays = fenced or not line.strip() or re.match(r"```|    |\t|\||#|<|!\[|---", line)
        if stays and not (paragraph and ITEM.match(paragraph[0]) and line.startswith("  ") and not fenced and line.strip()):
            end()
            print(line)
        else:
            if ITEM.match(line):
                end()
            paragraph.append(line)
    end()


main()
