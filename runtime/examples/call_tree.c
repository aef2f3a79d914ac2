/* An event handler to begin with: the tree of what called what, loops included, with the number of
   entries and of memory accesses directly in each, over all threads.

       cc -shared -fPIC -O2 -I PREFIX/include -o call_tree.so call_tree.c
       pmodel run --handler ./call_tree.so -- ./program

   The tree goes to the file that $CALL_TREE names, else to standard error.  A routine that is
   entered again below itself counts at the node that it has, so that recursion makes no deeper
   tree. */
#include <pmodel_handler.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { MOST_THREADS = 256, MOST_NODES = 1 << 18, MOST_OPEN = 1 << 20 };

struct node {
    uint32_t scope;
    uint32_t parent, child, sibling; /* node 0 is the root, and stands for "none" elsewhere */
    uint64_t entries, accesses;
};

/* Each thread has a tree of its own, so that no callback needs a lock. */
struct tree {
    struct node *nodes; /* [MOST_NODES]; memory exists where it is touched */
    uint32_t n_nodes;
    uint32_t *open; /* [MOST_OPEN]: nodes of what is open, outermost first */
    uint32_t n_open;
};

static const struct pmodel_program *program;
static struct tree trees[MOST_THREADS];

/* malloc is not ours to call: the program may be inside of it. */
static void *take(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static struct tree *tree_of(uint32_t thread) {
    if (thread >= MOST_THREADS)
        return NULL;
    struct tree *tree = &trees[thread];
    if (!tree->nodes) {
        tree->nodes = take(MOST_NODES * sizeof *tree->nodes);
        tree->open = take(MOST_OPEN * sizeof *tree->open);
        tree->n_nodes = 1;
    }
    return tree->nodes && tree->open ? tree : NULL;
}

static uint32_t current(const struct tree *tree) {
    return tree->n_open ? tree->open[tree->n_open - 1] : 0;
}

/* The node of SCOPE below FROM, or around it if it is open there; made if it is not there. */
static uint32_t node_for(struct tree *tree, uint32_t from, uint32_t scope) {
    for (uint32_t node = from; node; node = tree->nodes[node].parent)
        if (tree->nodes[node].scope == scope)
            return node;
    for (uint32_t node = tree->nodes[from].child; node; node = tree->nodes[node].sibling)
        if (tree->nodes[node].scope == scope)
            return node;
    if (tree->n_nodes == MOST_NODES)
        return from;
    uint32_t node = tree->n_nodes++;
    tree->nodes[node] =
        (struct node){.scope = scope, .parent = from, .sibling = tree->nodes[from].child};
    tree->nodes[from].child = node;
    return node;
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static int begin(const struct pmodel_program *of) {
    program = of;
    return 0;
}

static void enter(uint32_t thread, uint32_t scope) {
    struct tree *tree = tree_of(thread);
    if (!tree || tree->n_open == MOST_OPEN)
        return;
    uint32_t node = node_for(tree, current(tree), scope);
    tree->nodes[node].entries++;
    tree->open[tree->n_open++] = node;
}

static void leave(uint32_t thread, uint32_t scope) {
    struct tree *tree = tree_of(thread);
    (void)scope;
    if (tree && tree->n_open)
        tree->n_open--;
}

static void accesses(uint32_t thread, const struct pmodel_access *batch, size_t count) {
    struct tree *tree = tree_of(thread);
    (void)batch;
    if (tree)
        tree->nodes[current(tree)].accesses += count;
}

/* ---- at the end ------------------------------------------------------------------------------ */

/* Adds what is below node FROM_NODE of FROM to node TO of the first tree. */
static void merge(const struct tree *from, uint32_t from_node, uint32_t to) {
    struct tree *all = &trees[0];
    for (uint32_t node = from->nodes[from_node].child; node; node = from->nodes[node].sibling) {
        uint32_t same = all->nodes[to].child;
        while (same && all->nodes[same].scope != from->nodes[node].scope)
            same = all->nodes[same].sibling;
        if (!same && all->n_nodes < MOST_NODES) {
            same = all->n_nodes++;
            all->nodes[same] = (struct node){
                .scope = from->nodes[node].scope, .parent = to, .sibling = all->nodes[to].child};
            all->nodes[to].child = same;
        }
        if (same) {
            all->nodes[same].entries += from->nodes[node].entries;
            all->nodes[same].accesses += from->nodes[node].accesses;
            merge(from, node, same);
        }
    }
}

static void print(FILE *out, uint32_t node, int depth) {
    const struct node *n = &trees[0].nodes[node];
    const struct pmodel_scope *scope = &program->scopes[n->scope];
    fprintf(out, "%14lu %14lu  %*s%s%s", n->entries, n->accesses, 2 * depth, "",
            scope->kind == PMODEL_LOOP ? "loop " : "", node ? scope->name : "outside of all");
    if (node && *scope->file)
        fprintf(out, " %s:%u", scope->file, scope->line);
    fputc('\n', out);
    /* New children stand first: the oldest is printed first. */
    uint32_t printed = 0;
    for (;;) {
        uint32_t child = trees[0].nodes[node].child, last = 0;
        for (; child != printed && child; child = trees[0].nodes[child].sibling)
            last = child;
        if (!last)
            break;
        print(out, last, depth + 1);
        printed = last;
    }
}

static void end(void) {
    const char *path = getenv("CALL_TREE");
    FILE *out = path && *path ? fopen(path, "w") : stderr;
    if (!out || !tree_of(0))
        return;
    for (uint32_t thread = 1; thread < MOST_THREADS; thread++)
        if (trees[thread].nodes && trees[thread].open) {
            trees[0].nodes[0].accesses += trees[thread].nodes[0].accesses;
            merge(&trees[thread], 0, 0);
        }
    fprintf(out, "%14s %14s  %s\n", "ENTRIES", "ACCESSES", "ROUTINE OR LOOP");
    print(out, 0, 0);
    if (out != stderr)
        fclose(out);
}

__attribute__((visibility("default"))) const struct pmodel_handler pmodel_handler = {
    .version = PMODEL_HANDLER_VERSION,
    .begin = begin,
    .accesses = accesses,
    .enter = enter,
    .leave = leave,
    .end = end,
};
