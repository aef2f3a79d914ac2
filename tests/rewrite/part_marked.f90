! Markers in Fortran: what is between stop and start is not measured.
program part
  use pmodel
  implicit none
  integer :: total

  total = 0
  call work (total, 3)
  call pmodel_stop ()
  call work (total, 100)
  call work (total, 100)
  call pmodel_start ()
  call work (total, 4)
  print *, total

contains

  subroutine work (total, n)
    integer, intent (inout) :: total
    integer, intent (in) :: n
    integer :: i
    do i = 1, n
      total = total + mod (total, 7) + i
    end do
  end subroutine work
end program part
