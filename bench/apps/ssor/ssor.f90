! SSOR solver on a cubic mesh: five coupled unknowns a point, triangular sweeps in i, j and k.
!
! Model:    SHIFT u + w (B_x du/dx + B_y du/dy + B_z du/dz) + w C u - laplacian(u) = f in the unit
!           cube, u given on its faces: an implicit time step of five unknowns that a flow w(x)
!           carries and couples. B_d and C are constant 5x5 matrices, w varies over the mesh.
! Discrete: central differences on n points an edge, h = 1 / (n - 1). Every point has a 5x5 block
!           D = (SHIFT + 6 / h^2) I + w C, and for each axis a block below and one above,
!           L_d = -I / h^2 - w B_d / (2 h) and U_d = -I / h^2 + w B_d / (2 h). SHIFT = 3 / h^2.
!           A step solves, with the relaxation factor r,
!             (D + r L) D^-1 (D + r U) change = r (2 - r) (f - A u),
!           by a sweep from the first point to the last (each needs its three lower neighbours)
!           and one back (each needs its three upper neighbours); then u = u + change.
! Check:    f is computed by calculus for a known field of quadratic polynomials, on which central
!           differences are exact: there the residual must vanish up to rounding. The change of the
!           first step must satisfy the equation above. And a step is a forward and a backward SOR
!           step, each of which lowers the largest error at least by the factor
!             (|1 - r| + r sum |D^-1 U_d|) / (1 - r sum |D^-1 L_d|)
!           (the backward one with L and U exchanged; row-sum norms, sums over the axes, largest
!           over the points): the error must fall at least as promised.
!
! Extents:  equal to the size; or, for a size up to 102, 102 for every array whatever the size, if
!           built with `-cpp -DEXTENT=102`.
!
! Usage: ssor N [STEPS], with N points along each edge, faces included.
! Exit status: 0 if the checks hold, 1 if one does not, 2 if an argument makes no sense.

module physics
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: dp = real64

  ! Capitals mean nothing to Fortran, but much to the preprocessor: without it, EXTENT is the name
  ! in the line above, a zero; with -DEXTENT=102, it is 102.
  integer, parameter :: extent = 0
  integer, parameter :: fixed_extent = EXTENT

  real(dp), parameter :: relaxation = 1.1_dp

  ! transport(:, :, d) is B_d: the couplings of the unknowns' slopes along axis d.
  real(dp), parameter :: transport(5, 5, 3) = reshape([ &
     0.9_dp,  0.2_dp, -0.1_dp,  0.3_dp,  0.1_dp, &
     0.1_dp,  0.7_dp,  0.2_dp, -0.2_dp,  0.1_dp, &
    -0.2_dp,  0.1_dp,  0.8_dp,  0.1_dp,  0.2_dp, &
     0.3_dp, -0.1_dp,  0.2_dp,  0.6_dp, -0.1_dp, &
     0.1_dp,  0.2_dp, -0.3_dp,  0.1_dp,  0.7_dp, &
    -0.6_dp,  0.1_dp,  0.2_dp,  0.1_dp, -0.2_dp, &
     0.2_dp, -0.8_dp,  0.1_dp,  0.3_dp,  0.1_dp, &
     0.1_dp,  0.3_dp, -0.7_dp, -0.1_dp,  0.2_dp, &
    -0.1_dp,  0.2_dp,  0.1_dp, -0.9_dp,  0.1_dp, &
     0.2_dp,  0.1_dp, -0.1_dp,  0.2_dp, -0.5_dp, &
     0.5_dp, -0.2_dp,  0.3_dp,  0.1_dp,  0.1_dp, &
     0.1_dp,  0.4_dp, -0.2_dp,  0.2_dp, -0.3_dp, &
     0.2_dp,  0.1_dp,  0.6_dp, -0.1_dp,  0.2_dp, &
    -0.3_dp,  0.1_dp,  0.2_dp,  0.4_dp,  0.1_dp, &
     0.1_dp, -0.1_dp,  0.2_dp,  0.3_dp,  0.5_dp], [5, 5, 3])

  ! C: how the unknowns feed each other.
  real(dp), parameter :: reaction(5, 5) = reshape([ &
     4.0_dp, -1.0_dp,  0.5_dp,  0.2_dp,  0.1_dp, &
     0.3_dp,  5.0_dp, -0.8_dp,  0.4_dp,  0.2_dp, &
    -0.6_dp,  0.2_dp,  3.0_dp,  0.7_dp, -0.3_dp, &
     0.5_dp, -0.4_dp,  0.1_dp,  4.0_dp,  0.9_dp, &
     0.2_dp,  0.6_dp, -0.5_dp,  0.3_dp,  5.0_dp], [5, 5])

contains

  ! The extent of the first three mesh dimensions of every array.
  pure integer function wide(n)
    integer, intent(in) :: n

    wide = merge(n, fixed_extent, fixed_extent == 0)
  end function wide

  ! 1 / h^2
  pure real(dp) function second_difference(n)
    integer, intent(in) :: n

    second_difference = real(n - 1, dp)**2
  end function second_difference

  ! The term of u itself, as the 1 / dt of a time step that keeps pace with the mesh.
  pure real(dp) function shift(n)
    integer, intent(in) :: n

    shift = 3.0_dp * second_difference(n)
  end function shift

  ! D in a point where the flow is w.
  pure subroutine set_diagonal(n, w, block)
    integer, intent(in) :: n
    real(dp), intent(in) :: w
    real(dp), intent(out) :: block(5, 5)
    integer :: m

    block = w * reaction
    do m = 1, 5
      block(m, m) = block(m, m) + shift(n) + 6.0_dp * second_difference(n)
    end do
  end subroutine set_diagonal

  ! L_axis (side = -1) or U_axis (side = +1) in a point where the flow is w.
  pure subroutine set_neighbour(n, axis, side, w, block)
    integer, intent(in) :: n, axis, side
    real(dp), intent(in) :: w
    real(dp), intent(out) :: block(5, 5)
    integer :: m

    block = (side * w * 0.5_dp * (n - 1)) * transport(:, :, axis)
    do m = 1, 5
      block(m, m) = block(m, m) - second_difference(n)
    end do
  end subroutine set_neighbour

end module physics

! The field that solves the equations, and the f for which it does.
module known_field
  use physics
  implicit none
  private
  public :: known_state, known_source, flow

  ! Unknown m is constant(m) + sum over axes a of linear(a, m) x_a + quadratic(a, m) x_a^2.
  real(dp), parameter :: constant(5) = [1.0_dp, -0.5_dp, 0.7_dp, 1.5_dp, 0.4_dp]
  real(dp), parameter :: linear(3, 5) = reshape([ &
     0.3_dp, -0.6_dp,  0.2_dp, &
     0.5_dp,  0.4_dp, -0.7_dp, &
    -0.8_dp,  0.1_dp,  0.6_dp, &
     0.2_dp, -0.3_dp,  0.9_dp, &
    -0.4_dp,  0.7_dp,  0.1_dp], [3, 5])
  real(dp), parameter :: quadratic(3, 5) = reshape([ &
     0.6_dp,  0.2_dp, -0.4_dp, &
    -0.3_dp,  0.5_dp,  0.1_dp, &
     0.2_dp, -0.7_dp,  0.3_dp, &
    -0.5_dp,  0.4_dp,  0.2_dp, &
     0.1_dp, -0.2_dp,  0.8_dp], [3, 5])

contains

  ! w, between 0.5 and 2 in the unit cube.
  pure real(dp) function flow(position)
    real(dp), intent(in) :: position(3)

    flow = 0.5_dp + position(1) * (1.0_dp - 0.5_dp * position(2)) + 0.5_dp * position(3)**2
  end function flow

  pure subroutine known_state(position, u)
    real(dp), intent(in) :: position(3)
    real(dp), intent(out) :: u(5)
    integer :: axis, m

    do m = 1, 5
      u(m) = constant(m)
      do axis = 1, 3
        u(m) = u(m) + (linear(axis, m) + quadratic(axis, m) * position(axis)) * position(axis)
      end do
    end do
  end subroutine known_state

  ! f = SHIFT u + w (sum over axes of B_d du/dx_d + C u) - laplacian(u), by calculus.
  pure subroutine known_source(n, position, source)
    integer, intent(in) :: n
    real(dp), intent(in) :: position(3)
    real(dp), intent(out) :: source(5)
    real(dp) :: u(5), coupled(5)
    integer :: axis

    call known_state(position, u)
    coupled = matmul(reaction, u)
    do axis = 1, 3
      coupled = coupled + matmul(transport(:, :, axis), &
        linear(axis, :) + 2.0_dp * quadratic(axis, :) * position(axis))
    end do
    source = shift(n) * u + flow(position) * coupled - 2.0_dp * sum(quadratic, dim=1)
  end subroutine known_source

end module known_field

! Small dense algebra.
module blocks
  use physics, only: dp
  implicit none
  private
  public :: subtract_product, solve_block, row_sum_norm

contains

  ! target = target - factor * block * vector
  pure subroutine subtract_product(factor, block, vector, target)
    real(dp), intent(in) :: factor, block(5, 5), vector(5)
    real(dp), intent(inout) :: target(5)
    integer :: column

    do column = 1, 5
      target = target - block(:, column) * (factor * vector(column))
    end do
  end subroutine subtract_product

  ! vector becomes block^-1 * vector; block is used up. No pivoting: the diagonal dominates.
  pure subroutine solve_block(block, vector)
    real(dp), intent(inout) :: block(5, 5), vector(5)
    real(dp) :: factor
    integer :: row, column, pivot

    do pivot = 1, 4
      do row = pivot + 1, 5
        factor = block(row, pivot) / block(pivot, pivot)
        do column = pivot + 1, 5
          block(row, column) = block(row, column) - factor * block(pivot, column)
        end do
        vector(row) = vector(row) - factor * vector(pivot)
      end do
    end do
    do pivot = 5, 1, -1
      vector(pivot) = vector(pivot) / block(pivot, pivot)
      do row = 1, pivot - 1
        vector(row) = vector(row) - block(row, pivot) * vector(pivot)
      end do
    end do
  end subroutine solve_block

  ! The row-sum norm of diagonal^-1 * block.
  pure real(dp) function row_sum_norm(diagonal, block)
    real(dp), intent(in) :: diagonal(5, 5), block(5, 5)
    real(dp) :: used_up(5, 5), column(5), sums(5)
    integer :: c

    sums = 0.0_dp
    do c = 1, 5
      used_up = diagonal
      column = block(:, c)
      call solve_block(used_up, column)
      sums = sums + abs(column)
    end do
    row_sum_norm = maxval(sums)
  end function row_sum_norm

end module blocks

! One SSOR step: residual, the two sweeps, and the update. Fields are (5, x, y, z), the flow
! (x, y, z). What is on the faces does not change.
module ssor_steps
  use physics
  use blocks
  implicit none
  private
  public :: compute_residual, lower_sweep, upper_sweep, add

contains

  ! residual = f - A u inside the mesh, and zero on its faces.
  subroutine compute_residual(n, w, source, u, residual)
    integer, intent(in) :: n
    real(dp), intent(in) :: w(wide(n), wide(n), wide(n))
    real(dp), intent(in) :: source(5, wide(n), wide(n), wide(n)), u(5, wide(n), wide(n), wide(n))
    real(dp), intent(out) :: residual(5, wide(n), wide(n), wide(n))
    real(dp) :: slope(5), total(5), by_first, by_second
    integer :: i, j, k, m, column

    residual(:, 1:n, 1:n, 1:n) = 0.0_dp
    by_first = 0.5_dp * (n - 1)
    by_second = second_difference(n)
    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          total = 0.0_dp
          slope = by_first * (u(:, i + 1, j, k) - u(:, i - 1, j, k))
          do column = 1, 5
            total = total + transport(:, column, 1) * slope(column) &
              + reaction(:, column) * u(column, i, j, k)
          end do
          slope = by_first * (u(:, i, j + 1, k) - u(:, i, j - 1, k))
          do column = 1, 5
            total = total + transport(:, column, 2) * slope(column)
          end do
          slope = by_first * (u(:, i, j, k + 1) - u(:, i, j, k - 1))
          do column = 1, 5
            total = total + transport(:, column, 3) * slope(column)
          end do
          do m = 1, 5
            residual(m, i, j, k) = source(m, i, j, k) - shift(n) * u(m, i, j, k) &
              - w(i, j, k) * total(m) + by_second * (u(m, i - 1, j, k) + u(m, i + 1, j, k) &
              + u(m, i, j - 1, k) + u(m, i, j + 1, k) + u(m, i, j, k - 1) + u(m, i, j, k + 1) &
              - 6.0_dp * u(m, i, j, k))
          end do
        end do
      end do
    end do
  end subroutine compute_residual

  ! Solves (D + r L) x = r (2 - r) right from the first point on. right becomes x.
  subroutine lower_sweep(n, w, right)
    integer, intent(in) :: n
    real(dp), intent(in) :: w(wide(n), wide(n), wide(n))
    real(dp), intent(inout) :: right(5, wide(n), wide(n), wide(n))
    real(dp) :: x(5), block(5, 5)
    integer :: i, j, k

    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          x = relaxation * (2.0_dp - relaxation) * right(:, i, j, k)
          call set_neighbour(n, 3, -1, w(i, j, k), block)
          call subtract_product(relaxation, block, right(:, i, j, k - 1), x)
          call set_neighbour(n, 2, -1, w(i, j, k), block)
          call subtract_product(relaxation, block, right(:, i, j - 1, k), x)
          call set_neighbour(n, 1, -1, w(i, j, k), block)
          call subtract_product(relaxation, block, right(:, i - 1, j, k), x)
          call set_diagonal(n, w(i, j, k), block)
          call solve_block(block, x)
          right(:, i, j, k) = x
        end do
      end do
    end do
  end subroutine lower_sweep

  ! Solves D^-1 (D + r U) x = right from the last point back. right becomes x.
  subroutine upper_sweep(n, w, right)
    integer, intent(in) :: n
    real(dp), intent(in) :: w(wide(n), wide(n), wide(n))
    real(dp), intent(inout) :: right(5, wide(n), wide(n), wide(n))
    real(dp) :: x(5), block(5, 5)
    integer :: i, j, k

    do k = n - 1, 2, -1
      do j = n - 1, 2, -1
        do i = n - 1, 2, -1
          x = 0.0_dp
          call set_neighbour(n, 3, 1, w(i, j, k), block)
          call subtract_product(relaxation, block, right(:, i, j, k + 1), x)
          call set_neighbour(n, 2, 1, w(i, j, k), block)
          call subtract_product(relaxation, block, right(:, i, j + 1, k), x)
          call set_neighbour(n, 1, 1, w(i, j, k), block)
          call subtract_product(relaxation, block, right(:, i + 1, j, k), x)
          call set_diagonal(n, w(i, j, k), block)
          call solve_block(block, x)
          right(:, i, j, k) = right(:, i, j, k) + x
        end do
      end do
    end do
  end subroutine upper_sweep

  ! u = u + change
  subroutine add(n, change, u)
    integer, intent(in) :: n
    real(dp), intent(in) :: change(5, wide(n), wide(n), wide(n))
    real(dp), intent(inout) :: u(5, wide(n), wide(n), wide(n))
    integer :: i, j, k

    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          u(:, i, j, k) = u(:, i, j, k) + change(:, i, j, k)
        end do
      end do
    end do
  end subroutine add

end module ssor_steps

! The start, and what the result is judged by.
module verification
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan
  use physics
  use known_field
  use blocks
  implicit none
  private
  public :: initialise, disturb, largest_error, largest_residual, promised_fall, sweep_fault

contains

  pure function position(n, i, j, k) result(x)
    integer, intent(in) :: n, i, j, k
    real(dp) :: x(3)

    x = real([i - 1, j - 1, k - 1], dp) / (n - 1)
  end function position

  ! The flow, the known field and its source.
  subroutine initialise(n, w, u, source)
    integer, intent(in) :: n
    real(dp), intent(out) :: w(wide(n), wide(n), wide(n))
    real(dp), intent(out) :: u(5, wide(n), wide(n), wide(n)), source(5, wide(n), wide(n), wide(n))
    integer :: i, j, k

    do k = 1, n
      do j = 1, n
        do i = 1, n
          w(i, j, k) = flow(position(n, i, j, k))
          call known_state(position(n, i, j, k), u(:, i, j, k))
          call known_source(n, position(n, i, j, k), source(:, i, j, k))
        end do
      end do
    end do
  end subroutine initialise

  ! Moves every unknown inside the mesh away from the known field: half of the distance is smooth,
  ! the other half changes sign from point to point.
  subroutine disturb(n, u)
    integer, intent(in) :: n
    real(dp), intent(inout) :: u(5, wide(n), wide(n), wide(n))
    real(dp), parameter :: height(5) = [0.5_dp, -0.4_dp, 0.6_dp, 0.3_dp, -0.5_dp]
    integer :: i, j, k

    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          u(:, i, j, k) = u(:, i, j, k) + height * merge(2.0_dp, 0.5_dp, mod(i + j + k, 2) == 0)
        end do
      end do
    end do
  end subroutine disturb

  ! The largest distance of an unknown from the known field. Not a number, if one is not.
  subroutine largest_error(n, u, largest)
    integer, intent(in) :: n
    real(dp), intent(in) :: u(5, wide(n), wide(n), wide(n))
    real(dp), intent(out) :: largest
    real(dp) :: known(5), distance
    integer :: i, j, k, m

    largest = 0.0_dp
    do k = 1, n
      do j = 1, n
        do i = 1, n
          call known_state(position(n, i, j, k), known)
          do m = 1, 5
            distance = abs(u(m, i, j, k) - known(m))
            if (.not. distance <= largest) largest = distance
            if (ieee_is_nan(distance)) return
          end do
        end do
      end do
    end do
  end subroutine largest_error

  ! The largest residual, relative to the diagonal: in units of u. Not a number, if one is not.
  subroutine largest_residual(n, residual, largest)
    integer, intent(in) :: n
    real(dp), intent(in) :: residual(5, wide(n), wide(n), wide(n))
    real(dp), intent(out) :: largest
    real(dp) :: distance
    integer :: i, j, k, m

    largest = 0.0_dp
    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          do m = 1, 5
            distance = abs(residual(m, i, j, k))
            if (.not. distance <= largest) largest = distance
            if (ieee_is_nan(distance)) return
          end do
        end do
      end do
    end do
    largest = largest / (shift(n) + 6.0_dp * second_difference(n))
  end subroutine largest_residual

  ! The factor by which a step lowers the largest error, at least. The norms depend on the point by
  ! w alone, and smoothly: values spread over its range stand for all points.
  real(dp) function promised_fall(n, w)
    integer, intent(in) :: n
    real(dp), intent(in) :: w(wide(n), wide(n), wide(n))
    integer, parameter :: samples = 64
    real(dp) :: diagonal(5, 5), neighbour(5, 5), least, most, here, below, above
    real(dp) :: most_below, most_above
    integer :: sample, axis

    least = minval(w(2:n - 1, 2:n - 1, 2:n - 1))
    most = maxval(w(2:n - 1, 2:n - 1, 2:n - 1))
    most_below = 0.0_dp
    most_above = 0.0_dp
    do sample = 0, samples
      here = least + (most - least) * sample / samples
      call set_diagonal(n, here, diagonal)
      below = 0.0_dp
      above = 0.0_dp
      do axis = 1, 3
        call set_neighbour(n, axis, -1, here, neighbour)
        below = below + row_sum_norm(diagonal, neighbour)
        call set_neighbour(n, axis, 1, here, neighbour)
        above = above + row_sum_norm(diagonal, neighbour)
      end do
      most_below = max(most_below, below)
      most_above = max(most_above, above)
    end do
    promised_fall = sor_fall(most_below, most_above) * sor_fall(most_above, most_below)
  end function promised_fall

  ! The factor of one SOR step with these norms of what is swept before a point and after it.
  pure real(dp) function sor_fall(before, after)
    real(dp), intent(in) :: before, after

    sor_fall = (abs(1.0_dp - relaxation) + relaxation * after) / (1.0_dp - relaxation * before)
  end function sor_fall

  ! How far (D + r L) D^-1 (D + r U) change is from r (2 - r) residual in any point, relative to the
  ! largest residual. half is scratch: D^-1 (D + r U) change.
  subroutine sweep_fault(n, w, residual, change, half, fault)
    integer, intent(in) :: n
    real(dp), intent(in) :: w(wide(n), wide(n), wide(n))
    real(dp), intent(in) :: residual(5, wide(n), wide(n), wide(n))
    real(dp), intent(in) :: change(5, wide(n), wide(n), wide(n))
    real(dp), intent(out) :: half(5, wide(n), wide(n), wide(n)), fault
    real(dp) :: block(5, 5), product(5), largest, distance
    integer :: i, j, k, axis, step(3)

    half(:, 1:n, 1:n, 1:n) = 0.0_dp
    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          product = 0.0_dp
          do axis = 1, 3
            step = merge(1, 0, [1, 2, 3] == axis)
            call set_neighbour(n, axis, 1, w(i, j, k), block)
            product = product &
              + matmul(block, change(:, i + step(1), j + step(2), k + step(3)))
          end do
          call set_diagonal(n, w(i, j, k), block)
          call solve_block(block, product)
          half(:, i, j, k) = change(:, i, j, k) + relaxation * product
        end do
      end do
    end do

    largest = 0.0_dp
    fault = 0.0_dp
    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          call set_diagonal(n, w(i, j, k), block)
          product = matmul(block, half(:, i, j, k))
          do axis = 1, 3
            step = merge(1, 0, [1, 2, 3] == axis)
            call set_neighbour(n, axis, -1, w(i, j, k), block)
            product = product + relaxation &
              * matmul(block, half(:, i - step(1), j - step(2), k - step(3)))
          end do
          product = product - relaxation * (2.0_dp - relaxation) * residual(:, i, j, k)
          distance = sum(abs(product))
          if (.not. distance <= fault) fault = distance
          largest = max(largest, maxval(abs(residual(:, i, j, k))))
        end do
      end do
    end do
    fault = fault / largest
  end subroutine sweep_fault

end module verification

! What the command line asks for; what makes no sense ends the program with status 2.
module arguments
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
  use physics, only: dp
  implicit none
  private
  public :: whole_number, require_memory, reject

contains

  subroutine reject(reason)
    character(len=*), intent(in) :: reason

    write (error_unit, '(2a)') 'ssor: ', reason
    stop 2, quiet=.true.
  end subroutine reject

  ! The number that argument place spells, if it is whole and from least to most.
  function whole_number(place, name, least, most) result(number)
    integer, intent(in) :: place, least, most
    character(len=*), intent(in) :: name
    integer :: number
    character(len=:), allocatable :: text
    character(len=80) :: range
    integer :: length

    call get_command_argument(place, length=length)
    allocate (character(len=length) :: text)
    call get_command_argument(place, text)
    if (length == 0 .or. verify(text, '0123456789') /= 0) &
      call reject(name // " must be a whole number, but is '" // text // "'")
    number = -1
    if (length <= 9) read (text, '(i9)') number
    if (number < least .or. number > most) then
      write (range, '(a, i0, a, i0)') ' must be from ', least, ' to ', most
      call reject(name // trim(range) // ', but is ' // text)
    end if
  end function whole_number

  ! Linux grants memory that it does not have, so ask what there is before taking it. Where
  ! the file is not there to tell, allocate has the last word.
  subroutine require_memory(n, needed_bytes)
    integer, intent(in) :: n
    real(dp), intent(in) :: needed_bytes
    real(dp), parameter :: gibibyte = 2.0_dp**30
    character(len=80) :: line
    integer(int64) :: present_kibibytes
    integer :: unit, status

    open (newunit=unit, file='/proc/meminfo', status='old', action='read', iostat=status)
    if (status /= 0) return
    read (unit, '(a)', iostat=status) line
    close (unit)
    if (status /= 0 .or. index(line, 'MemTotal:') /= 1) return
    read (line(10:index(line, 'kB') - 1), *, iostat=status) present_kibibytes
    if (status /= 0 .or. needed_bytes <= present_kibibytes * 1024.0_dp) return
    write (line, '(a, i0, a, f0.1, a, f0.1, a)') 'size ', n, ' needs ', needed_bytes / gibibyte, &
      ' GiB of memory, but this machine has ', present_kibibytes * 1024.0_dp / gibibyte, ' GiB'
    call reject(trim(line))
  end subroutine require_memory

end module arguments

program ssor
  use physics
  use ssor_steps
  use verification
  use arguments
  implicit none
  ! What is below this, relative to the unknowns, is rounding, and differs between compilers.
  real(dp), parameter :: rounding = 1.0e-12_dp
  real(dp), allocatable, dimension(:, :, :, :) :: u, change, source
  real(dp), allocatable :: w(:, :, :)
  real(dp) :: rest, fault, fall, error_before, error_after, residual_before, residual_after
  integer :: n, steps, step, most, e, status
  logical :: at_rest, solved, fallen

  if (command_argument_count() < 1 .or. command_argument_count() > 2) &
    call reject('usage: ssor N [STEPS]')
  most = merge(10000, fixed_extent, fixed_extent == 0)
  n = whole_number(1, 'the size N', 4, most)
  steps = 5
  if (command_argument_count() > 1) steps = whole_number(2, 'STEPS', 1, 1000000)
  e = wide(n)
  call require_memory(n, (5 * 5 + 1) * 8 * real(e, dp)**3)
  allocate (u(5, e, e, e), change(5, e, e, e), source(5, e, e, e), w(e, e, e), stat=status)
  if (status /= 0) call reject('no memory for this size; choose a smaller one')

  call initialise(n, w, u, source)
  fall = promised_fall(n, w)
  call compute_residual(n, w, source, u, change)
  call largest_residual(n, change, rest)
  call disturb(n, u)
  call largest_error(n, u, error_before)
  call compute_residual(n, w, source, u, change)
  call largest_residual(n, change, residual_before)
  call check_sweeps(fault)

  do step = 1, steps
    call lower_sweep(n, w, change)
    call upper_sweep(n, w, change)
    call add(n, change, u)
    call compute_residual(n, w, source, u, change)
  end do

  call largest_residual(n, change, residual_after)
  call largest_error(n, u, error_after)
  deallocate (u, change, source, w)

  write (*, '(a, i0, a, i0, a)') 'ssor: ', n, '^3 points of 5 unknowns, ', steps, ' steps'
  write (*, '(2a)') 'residual before ', figure(residual_before)
  write (*, '(2a)') 'residual after  ', figure(residual_after)
  write (*, '(2a)') 'error before    ', figure(error_before)
  write (*, '(2a)') 'error after     ', figure(error_after)
  write (*, '(a, f6.3)') 'promised fall of the error a step, at least:', fall
  at_rest = rest <= rounding
  solved = fault <= rounding
  fallen = error_after <= fall**steps * error_before + rounding .and. &
    residual_after <= residual_before
  write (*, '(2a)') 'known field solves the equations: ', verdict(at_rest)
  write (*, '(2a)') 'sweeps solve their triangular systems: ', verdict(solved)
  write (*, '(2a)') 'error falls as promised: ', verdict(fallen)
  if (.not. (at_rest .and. solved .and. fallen)) stop 1, quiet=.true.

contains

  ! Does the sweeps of the first step on a copy, and compares what they give with what they should.
  subroutine check_sweeps(fault)
    real(dp), intent(out) :: fault
    real(dp), allocatable, dimension(:, :, :, :) :: swept, half

    allocate (swept(5, e, e, e), half(5, e, e, e), stat=status)
    if (status /= 0) call reject('no memory for this size; choose a smaller one')
    swept(:, 1:n, 1:n, 1:n) = change(:, 1:n, 1:n, 1:n)
    call lower_sweep(n, w, swept)
    call upper_sweep(n, w, swept)
    call sweep_fault(n, w, change, swept, half, fault)
    deallocate (swept, half)
  end subroutine check_sweeps

  ! A norm in digits that no compiler changes.
  function figure(norm) result(text)
    real(dp), intent(in) :: norm
    character(len=12) :: text

    if (norm < rounding) then
      write (text, '(a, es7.1)') '   < ', rounding
    else
      write (text, '(es12.3)') norm
    end if
  end function figure

  function verdict(holds) result(text)
    logical, intent(in) :: holds
    character(len=6) :: text

    text = merge('passed', 'FAILED', holds)
  end function verdict

end program ssor
