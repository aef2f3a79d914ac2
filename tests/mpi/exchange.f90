! Halo exchange on a line, a ring of any-source receives, and reductions, in Fortran: with -DF08 by
! mpi_f08, with -DMPIF by mpif.h, else by the module mpi.
program exchange
#ifdef F08
  use mpi_f08
#elif !defined(MPIF)
  use mpi
#endif
  implicit none
#ifdef MPIF
  include "mpif.h"
#endif
#ifdef F08
  type(MPI_Request) :: requests(4)
  type(MPI_Comm) :: line
#else
  integer :: requests(4), line
#endif
  integer :: rank, size, i, below, above, error, steps = 3
  real(8) :: field(100, 2), total
  real :: sent(11)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.false.], .false., line, error)
  call MPI_Cart_shift(line, 0, 1, below, above, error)
  field = rank
  sent = rank
  total = 0
  do i = 1, steps
    call MPI_Irecv(field(1, 1), 40, MPI_DOUBLE_PRECISION, below, 1, line, requests(1), error)
    call MPI_Irecv(field(1, 2), 40, MPI_DOUBLE_PRECISION, above, 2, line, requests(2), error)
    call MPI_Isend(field(50, 1), 20 + rank, MPI_DOUBLE_PRECISION, above, 1, line, requests(3), error)
    call MPI_Isend(field(50, 2), 30, MPI_DOUBLE_PRECISION, below, 2, line, requests(4), error)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, error)
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, line, error)
  end do
  call MPI_Irecv(field, 400, MPI_REAL, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &
                 requests(1), error)
  call MPI_Send(sent, 11, MPI_REAL, mod(rank + 1, size), 5, MPI_COMM_WORLD, error)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
  call MPI_Bcast(field, 25, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program exchange
