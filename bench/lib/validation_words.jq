# Words and numbers of the tables of docs/validation.md.

def magnitude: if . == null then infinite elif . < 0 then -. else . end;

def median: sort | length as $n
    | if $n % 2 == 1 then .[($n - 1) / 2] else (.[$n / 2 - 1] + .[$n / 2]) / 2 end;

def two_digits: (. * 100 | round) as $n
    | "\($n / 100 | floor).\(("0" + ($n % 100 | tostring))[-2:])";

# 0.0123 → "1.23%"; unsigned
def percent: if . == null or . == infinite then "inf" elif . == 0 then "0"
    elif . >= 0.0995 then "\(. * 100 | round)%" elif . < 0.00005 then "<0.01%" else "\(. * 100 | two_digits)%" end;
def signed: if . == null then "inf" elif magnitude < 0.00005 then magnitude | percent else (if . < 0 then "−" else "+" end) + (magnitude | percent) end;

def count: if . >= 1e9 then "\(. / 1e9 | two_digits)G" elif . >= 1e6 then "\(. / 1e6 | two_digits)M"
    elif . >= 1e4 then "\(. / 1e3 | two_digits)k" else "\(round)" end;

def row: "| " + join(" | ") + " |";
# A table from its header and an array of rows, all arrays of texts; the first column to the left.
def table(header; rows):
    ([header, ["---"] + [header[1:][] | "---:"]] + rows | map(row) | join("\n"));

def code: "`\(.)`";
