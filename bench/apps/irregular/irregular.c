/* Accesses whose addresses are known only when the program runs, of seven kinds over N elements:

     random    x[k], k uniformly random
     sorted    the same indices in ascending order
     banded    x[k], k random within a band of BAND elements that moves along with the loop
     power     x[k], where the element of rank r is as likely as 1/r
     join      a hash join: N rows are put into a table, 2 N others looked up, half of which are
   there octree    N random points in a cube are put into an octree, then N others looked up spmv a
   sparse matrix-vector product: the points of a triangulated channel, WIDTH across, are a mesh that
   is numbered at random; each one is coupled with its six neighbours

   The first four read PER_ELEMENT indices for each element and walk through them PASSES times, as
   the product does with the matrix.  Every kind checks its result in another way than it was
   computed. Usage: irregular N KIND. Memory: 24 N bytes; join 48 N, octree 88 N, spmv 108 N. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PER_ELEMENT = 4, PASSES = 2, BAND = 512, WIDTH = 16, PAGE = 4096, LEAST = 64 };

/* Whole pages, zeroed by the program at every size, which calloc leaves to the system for large
   ones; given back at the end, so that no array lies where another was. */
static void *allocate(size_t n, size_t size) {
    size_t bytes = (n * size + PAGE - 1) / PAGE * PAGE;
    void *memory = aligned_alloc(PAGE, bytes);
    if (!memory) {
        fprintf(stderr, "irregular: no memory for %zu elements\n", n);
        exit(2);
    }
    return memset(memory, 0, bytes);
}

/* 64 bits that look random, different for each I and STREAM. */
static inline uint64_t scatter(uint64_t i, uint64_t stream) {
    uint64_t z = i * 0x9e3779b97f4a7c15u + stream * 0xd1b54a32d192ed03u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* One of N numbers, by the upper half of BITS. */
static inline size_t below(uint64_t bits, size_t n) { return (size_t)((bits >> 32) * n >> 32); }

/* In [0, 1). */
static inline double fraction(uint64_t bits) { return (double)(bits >> 11) * 0x1p-53; }

/* ---- gathers --------------------------------------------------------------------------------- */

static void random_indices(size_t n, size_t m, uint32_t *index) {
    for (size_t i = 0; i < m; i++)
        index[i] = (uint32_t)below(scatter(i, 1), n);
}

/* By counting: how often each element is drawn, then as many copies of it. */
static void sorted_indices(size_t n, size_t m, uint32_t *index) {
    uint32_t *drawn = allocate(n, sizeof *drawn);
    for (size_t i = 0; i < m; i++)
        drawn[below(scatter(i, 1), n)]++;
    size_t at = 0;
    for (size_t k = 0; k < n; k++)
        for (uint32_t c = 0; c < drawn[k]; c++)
            index[at++] = (uint32_t)k;
}

static void banded_indices(size_t n, size_t m, uint32_t *index) {
    size_t band = n < BAND ? n : BAND;
    for (size_t i = 0; i < m; i++)
        index[i] = (uint32_t)((i / PER_ELEMENT + below(scatter(i, 1), band)) % n);
}

/* Ranks N^u with u even in [0, 1) have probabilities of about 1/rank; ranks lie anywhere, because a
   prime that does not divide N permutes them. */
static void power_indices(size_t n, size_t m, uint32_t *index) {
    uint64_t prime = n % 2654435761u ? 2654435761u : 2654435769u;
    for (size_t i = 0; i < m; i++) {
        uint64_t rank = (uint64_t)exp(fraction(scatter(i, 1)) * log((double)n));
        index[i] = (uint32_t)(rank * prime % n);
    }
}

static __attribute__((noinline)) double gather(const double *x, const uint32_t *index, size_t m) {
    double sum = 0;
    for (size_t i = 0; i < m; i++)
        sum += x[index[i]];
    return sum;
}

/* x[k] = k, so that the sum is that of the indices, exactly. */
static int gathers(size_t n, void (*indices)(size_t n, size_t m, uint32_t *index)) {
    size_t m = PER_ELEMENT * n;
    double *x = allocate(n, sizeof *x), sum = 0;
    uint32_t *index = allocate(m, sizeof *index);
    for (size_t k = 0; k < n; k++)
        x[k] = (double)k;
    indices(n, m, index);
    for (int pass = 0; pass < PASSES; pass++)
        sum += gather(x, index, m);
    uint64_t expected = 0;
    for (size_t i = 0; i < m; i++)
        expected += index[i];
    return sum == (double)(PASSES * expected);
}

/* ---- hash join ------------------------------------------------------------------------------- */

struct row {
    uint64_t key, value;
};

/* Linear probing in N_SLOTS slots, of which half stay empty (key 0). */
static size_t slot_of(const struct row *table, size_t n_slots, uint64_t key) {
    size_t slot = below(scatter(key, 2), n_slots);
    while (table[slot].key != 0 && table[slot].key != key)
        slot = slot + 1 < n_slots ? slot + 1 : 0;
    return slot;
}

static __attribute__((noinline)) void build(struct row *table, size_t n_slots, size_t n) {
    for (size_t i = 1; i <= n; i++) {
        size_t slot = slot_of(table, n_slots, i);
        table[slot] = (struct row){i, 3 * i};
    }
}

static __attribute__((noinline)) uint64_t probe(const struct row *table, size_t n_slots,
                                                const uint64_t *keys, size_t n, size_t *found) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        size_t slot = slot_of(table, n_slots, keys[i]);
        *found += table[slot].key != 0;
        sum += table[slot].value;
    }
    return sum;
}

static int join(size_t n) {
    size_t n_slots = 2 * n, n_keys = n_slots, found = 0, expected = 0;
    struct row *table = allocate(n_slots, sizeof *table);
    uint64_t *keys = allocate(n_keys, sizeof *keys), wanted = 0;
    build(table, n_slots, n);
    for (size_t i = 0; i < n_keys; i++)
        keys[i] = 1 + below(scatter(i, 3), 2 * n);
    uint64_t sum = probe(table, n_slots, keys, n_keys, &found);
    for (size_t i = 0; i < n_keys; i++)
        if (keys[i] <= n) {
            expected++;
            wanted += 3 * keys[i];
        }
    return found == expected && sum == wanted;
}

/* ---- octree ---------------------------------------------------------------------------------- */

enum { DEEPEST = 40 };

struct node {
    uint32_t child[8]; /* 0: none; points are numbered from 1, and marked by POINT */
};
#define POINT 0x80000000u

struct point {
    double x, y, z;
};

static struct point point_of(uint64_t i, uint64_t stream) {
    return (struct point){fraction(scatter(i, stream)), fraction(scatter(i, stream + 1)),
                          fraction(scatter(i, stream + 2))};
}

/* The octant of P at DEPTH: one bit of each coordinate. */
static inline unsigned octant(struct point p, int depth) {
    double scale = (double)(UINT64_C(1) << (depth + 1));
    return (unsigned)(((uint64_t)(p.x * scale) & 1) | ((uint64_t)(p.y * scale) & 1) << 1 |
                      ((uint64_t)(p.z * scale) & 1) << 2);
}

static __attribute__((noinline)) void insert(struct node *nodes, uint32_t *n_nodes,
                                             const struct point *points, uint32_t number) {
    uint32_t at = 0;
    for (int depth = 0; depth < DEEPEST; depth++) {
        uint32_t *child = &nodes[at].child[octant(points[number - 1], depth)];
        if (*child == 0) {
            *child = POINT | number;
            return;
        }
        if (*child & POINT) { /* the point there moves one level down */
            uint32_t other = *child & ~POINT;
            *child = (*n_nodes)++;
            nodes[*child].child[octant(points[other - 1], depth + 1)] = POINT | other;
        }
        at = *child;
    }
}

/* The leaf where P would be: 0, or a point's number; the levels passed are added to LEVELS. */
static __attribute__((noinline)) uint32_t find(const struct node *nodes, struct point p,
                                               size_t *levels) {
    uint32_t at = 0;
    for (int depth = 0; depth < DEEPEST; depth++) {
        at = nodes[at].child[octant(p, depth)];
        ++*levels;
        if (at == 0 || at & POINT)
            break;
    }
    return at & ~POINT;
}

static int octree(size_t n) {
    size_t levels = 0, wrong = 0;
    uint32_t n_nodes = 1;
    struct node *nodes = allocate(2 * n + 64, sizeof *nodes);
    struct point *points = allocate(n, sizeof *points);
    for (size_t i = 0; i < n; i++)
        points[i] = point_of(i, 10);
    for (size_t i = 0; i < n; i++)
        insert(nodes, &n_nodes, points, (uint32_t)i + 1);
    for (size_t i = 0; i < n; i++)
        find(nodes, point_of(i, 20), &levels);
    for (size_t i = 0; i < n; i += 1 + n / 64) /* each point is in its own leaf */
        wrong += find(nodes, points[i], &levels) != i + 1;
    return wrong == 0 && levels >= n;
}

/* ---- sparse matrix-vector product ------------------------------------------------------------ */

struct mesh {
    size_t n, n_entries;
    uint32_t *first, *column; /* compressed rows */
    double *value;
};

/* A random permutation of 0 … N − 1. */
static uint32_t *random_numbers(size_t n) {
    uint32_t *number = allocate(n, sizeof *number);
    for (size_t i = 0; i < n; i++)
        number[i] = (uint32_t)i;
    for (size_t i = n; i-- > 1;) {
        size_t other = below(scatter(i, 5), i + 1);
        uint32_t moved = number[i];
        number[i] = number[other];
        number[other] = moved;
    }
    return number;
}

/* Point (x, y) has the neighbours (x ± 1, y), (x, y ± 1) and both (x + 1, y + 1) and (x − 1, y −
   1); the ends of the channel are joined, and so are its sides.  The matrix is 8 on the diagonal
   and −1 for each neighbour. */
static struct mesh mesh_of(size_t n) {
    static const int step_x[] = {0, 1, -1, 0, 0, 1, -1}, step_y[] = {0, 0, 0, 1, -1, 1, -1};
    enum { ENTRIES = sizeof step_x / sizeof *step_x };
    size_t length = n / WIDTH;
    struct mesh mesh = {.n = length * WIDTH, .n_entries = length * WIDTH * ENTRIES};
    uint32_t *number = random_numbers(mesh.n);
    mesh.first = allocate(mesh.n + 1, sizeof *mesh.first);
    mesh.column = allocate(mesh.n_entries, sizeof *mesh.column);
    mesh.value = allocate(mesh.n_entries, sizeof *mesh.value);
    for (size_t i = 0; i <= mesh.n; i++)
        mesh.first[i] = (uint32_t)(i * ENTRIES);
    for (size_t x = 0; x < length; x++)
        for (size_t y = 0; y < WIDTH; y++) {
            size_t at = mesh.first[number[x * WIDTH + y]];
            for (int k = 0; k < ENTRIES; k++) {
                size_t to_x = (x + length + step_x[k]) % length,
                       to_y = (y + WIDTH + step_y[k]) % WIDTH;
                mesh.column[at + k] = number[to_x * WIDTH + to_y];
                mesh.value[at + k] = k ? -1 : 8;
            }
        }
    return mesh;
}

static __attribute__((noinline)) void multiply(const struct mesh *mesh, const double *x,
                                               double *y) {
    for (size_t i = 0; i < mesh->n; i++) {
        double sum = 0;
        for (uint32_t k = mesh->first[i]; k < mesh->first[i + 1]; k++)
            sum += mesh->value[k] * x[mesh->column[k]];
        y[i] = sum;
    }
}

/* Each row adds up to 2, and so does each column: the sum of y = A x, with whole numbers in x, is
   known exactly. */
static int spmv(size_t n) {
    struct mesh mesh = mesh_of(n);
    double *x = allocate(mesh.n, sizeof *x), *y = allocate(mesh.n, sizeof *y), sum = 0,
           expected = 0;
    for (size_t i = 0; i < mesh.n; i++)
        x[i] = (double)(i % 17);
    for (int pass = 0; pass < PASSES; pass++)
        multiply(&mesh, x, y);
    for (size_t i = 0; i < mesh.n; i++) {
        sum += y[i];
        expected += 2 * x[i];
    }
    return sum == expected;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*indices)(size_t n, size_t m, uint32_t *index);
        int (*run)(size_t n);
    } kinds[] = {{"random", random_indices, NULL},
                 {"sorted", sorted_indices, NULL},
                 {"banded", banded_indices, NULL},
                 {"power", power_indices, NULL},
                 {"join", NULL, join},
                 {"octree", NULL, octree},
                 {"spmv", NULL, spmv}};
    char *end = NULL;
    unsigned long n = argc > 1 ? strtoul(argv[1], &end, 10) : 0;
    if (argc != 3 || *end != '\0' || n < LEAST || n > UINT32_C(1) << 28) {
        fprintf(stderr, "usage: irregular N KIND, N from %d to 2^28\n", LEAST);
        return 2;
    }
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(argv[2], kinds[k].name) == 0) {
            int right = kinds[k].run ? kinds[k].run(n) : gathers(n, kinds[k].indices);
            printf("%s %lu: %s\n", kinds[k].name, n, right ? "passed" : "failed");
            return !right;
        }
    fprintf(stderr, "irregular: no kind %s\n", argv[2]);
    return 2;
}
