/* What the libraries of this folder offer. */
#ifndef LIBRARIES_H
#define LIBRARIES_H

#include <stddef.h>

double inner_sum(const double *values, size_t n); /* an indirect function */
long inner_constructed(void);
int inner_each(int n, int (*visit)(int));
int later_count(int n);

#endif
