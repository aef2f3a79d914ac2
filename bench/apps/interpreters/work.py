# Dictionaries, sorting by a key, strings, closures, objects.
state = 42


def random(below):
    global state
    state = (state * 1103515245 + 12345) % 2147483648
    return state % below


class Node:
    def __init__(self, key):
        self.key, self.left, self.right = key, None, None


def insert(root, key):
    while True:
        side = "left" if key < root.key else "right"
        below = getattr(root, side)
        if below is None:
            setattr(root, side, Node(key))
            return
        root = below


def counter(step):
    n = 0

    def count():
        nonlocal n
        n += step
        return n

    return count


counts = {}
for _ in range(500000):
    name = "k%d" % random(20000)
    counts[name] = counts.get(name, 0) + 1
names = sorted(counts, key=lambda name: (-counts[name], name))

root = Node(500000)
for _ in range(100000):
    insert(root, random(1000000))

counters = [counter(step) for step in range(1000)]
total = sum(count() for _ in range(1500) for count in counters)

text = " ".join(name.upper()[::-1] for name in names for _ in range(10))
words = {}
for word in text.split():
    words.setdefault(len(word), []).append(word)
print(names[0], counts[names[0]], total, len(text), sorted((k, len(v)) for k, v in words.items()))
