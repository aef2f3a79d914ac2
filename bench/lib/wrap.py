#!/usr/bin/env python3
"""Lays out the prose of Markdown pages in lines of at most 120 characters: files in place, or standard input to standard output.

A paragraph or list item is laid out anew if one of its lines is longer.  Tables, code, headings and pictures stay as they
are, and no line ends inside `code` that is shorter than a line.
"""
import re
import sys

WIDTH = 120
ITEM = re.compile(r"(\s*)([-*+:]|\d+\.)\s+")
# What would mean something else at the beginning of a line.
LEADS = re.compile(r"^([-+*>:]|\d+[.)]|#+|\||=+)$|^(\||#+ )")


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
    for word in words(" ".join([lines[0][len(first):]] + [line.strip() for line in lines[1:]])):
        if len(line) + len(word) + 1 > WIDTH and line.strip() and line != first:
            filled.append(line.rstrip())
            line = further
        line += word if not line.strip() or line in (first, further) else " " + word
    return filled + [line.rstrip()]


def laid_out(text):
    paragraph, fenced, lines = [], False, []
    defined = False  # within a definition (`:   `), whose further paragraphs are indented, too

    def end():
        if paragraph:
            long = any(len(line) > WIDTH for line in paragraph)
            lines.extend(fill(paragraph) if long else paragraph)
            paragraph.clear()

    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        if re.match(r"\S", line):
            defined = line.startswith(":")
        code = "        " if defined else "    "
        stays = fenced or not line.strip() or re.match(r"```|%s|\t|\||#|<|!\[|---" % code, line)
        if stays and not (paragraph and ITEM.match(paragraph[0]) and line.startswith("  ") and not fenced and line.strip()):
            end()
            lines.append(line)
        else:
            if line.startswith(":") and len(paragraph) == 1:  # what it defines stays one line
                lines.append(paragraph.pop())
            if ITEM.match(line):
                end()
            paragraph.append(line)
    end()
    return "".join(line + "\n" for line in lines)


def main():
    if len(sys.argv) == 1:
        sys.stdout.write(laid_out(sys.stdin.read()))
    for name in sys.argv[1:]:
        text = open(name, encoding="utf-8").read()
        if laid_out(text) != text:
            open(name, "w", encoding="utf-8").write(laid_out(text))


main()
