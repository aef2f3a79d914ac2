! A program whose arrays have fixed extents: it is built anew for each size, with -cpp -DN=24.
module grid
  implicit none
  integer, parameter :: n = EXTENT
  double precision :: u(n, n, n), v(n, n, n)
contains
  subroutine fill()
    integer :: i, j, k
    do k = 1, n
      do j = 1, n
        do i = 1, n
          u(i, j, k) = i + 2 * j - k
        end do
      end do
    end do
  end subroutine

  subroutine smooth()
    integer :: i, j, k
    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          v(i, j, k) = 0.5d0 * u(i, j, k) + (u(i, j, k - 1) + u(i, j, k + 1) &
            + u(i, j - 1, k) + u(i, j + 1, k)) / 8
        end do
      end do
    end do
  end subroutine
end module

program fixed
  use grid
  implicit none
  call fill()
  call smooth()
  print '(f16.4)', sum(v(2:n-1, 2:n-1, 2:n-1))
end program
