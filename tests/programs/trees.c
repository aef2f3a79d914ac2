/* Recursion with several places of calls: a tree of four children, and two routines that go through
   it in turn.  GCC inlines some of the calls at -O2. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *children[4];
    long key;
};

static struct node *insert(struct node *node, unsigned long key) {
    if (!node) {
        node = calloc(1, sizeof *node);
        node->key = (long)key;
        return node;
    }
    switch (key & 3) {
    case 0:
        node->children[0] = insert(node->children[0], key >> 2);
        break;
    case 1:
        node->children[1] = insert(node->children[1], key >> 2);
        break;
    case 2:
        node->children[2] = insert(node->children[2], key >> 2);
        break;
    default:
        node->children[3] = insert(node->children[3], key >> 2);
    }
    return node;
}

static long even(const struct node *node);

__attribute__((noinline)) static long odd(const struct node *node) {
    return node ? node->key - even(node->children[0]) - even(node->children[1]) -
                      even(node->children[2]) - even(node->children[3])
                : 0;
}

__attribute__((noinline)) static long even(const struct node *node) {
    return node ? node->key + odd(node->children[0]) + odd(node->children[1]) +
                      odd(node->children[2]) + odd(node->children[3])
                : 0;
}

int main(int argc, char **argv) {
    struct node *root = NULL;
    unsigned long key = 1;
    for (long i = 0; argc > 1 && i < atol(argv[1]); i++)
        root = insert(root, (key = key * 6364136223846793005u + 1442695040888963407u) >> 16);
    printf("%ld\n", even(root));
    return 0;
}
