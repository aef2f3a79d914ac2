/* A library that is loaded while the program runs, and closed again. */
#include "libraries.h"

int later_count(int n) {
    int count = 0;
    for (int i = 2; i < n; i++) {
        int prime = 1;
        for (int k = 2; k * k <= i; k++)
            prime &= i % k != 0;
        count += prime;
    }
    return count;
}
