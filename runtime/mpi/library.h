/* Which MPI library the wrappers are compiled for, as PM_RAW_RANK numbers them, and its file. */
#ifndef PM_RUNTIME_MPI_LIBRARY_H
#define PM_RUNTIME_MPI_LIBRARY_H

#include <mpi.h>

#if defined OPEN_MPI
#define PM_MPI_LIBRARY 1
#define PM_MPI_FILE "libmpi.so.40"
#elif defined MPICH
#define PM_MPI_LIBRARY 2
#define PM_MPI_FILE "libmpich.so.12"
#else
#error "another MPI library"
#endif

#endif
