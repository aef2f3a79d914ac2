! Column-major arrays: the first index is the fast one.
subroutine relax(n, u, v)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: u(n, n)
  real(8), intent(inout) :: v(n, n)
  integer :: i, j
  do i = 2, n - 1
    do j = 2, n - 1
      v(i, j) = v(i, j) * 0.5d0 + u(i, j)
    end do
  end do
end subroutine relax

module fields
  implicit none
  real(8), allocatable :: field(:, :)
  real(8) :: fixed(100, 60)
contains
  subroutine sweep(x)
    real(8), intent(in) :: x
    integer :: i, j
    do j = 1, 60
      do i = 1, 100
        fixed(i, j) = fixed(i, j) + x * i
      end do
    end do
    if (allocated(field)) field = field * x
  end subroutine sweep

  function pick(which) result(value)
    integer, intent(in) :: which
    real(8) :: value
    select case (which)
    case (1); value = fixed(1, 1)
    case (2); value = fixed(2, 7) * 2
    case (3); value = sqrt(fixed(3, 1))
    case (4); value = fixed(9, 4) - 1
    case (5); value = 5
    case (6); value = fixed(50, 50)
    case default; value = 0
    end select
  end function pick
end module fields
