/* Which MPI library the wrappers are compiled for, as PM_RAW_RANK numbers them. */
#ifndef PM_RUNTIME_MPI_LIBRARY_H
#define PM_RUNTIME_MPI_LIBRARY_H

#include <mpi.h>

#if defined OPEN_MPI
#define PM_MPI_LIBRARY 1
#elif defined MPICH
#define PM_MPI_LIBRARY 2
#else
#define PM_MPI_LIBRARY 3
#endif

#endif
