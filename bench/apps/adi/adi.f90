! Implicit flow solver on a cubic mesh: five coupled unknowns a cell, block-tridiagonal ADI.
!
! Model:    u = (three velocities, temperature T, species Y) in the unit cube, with
!             du/dt = - d/dx F_x(u) - d/dy F_y(u) - d/dz F_z(u)
!                     + diffusivity * laplacian(u) + R(u) + f(position),
!             F_d(u) = u_d u, plus pressure * T in the equation of velocity d,
!             R(u)   = a reaction at the rate k T Y that uses up Y and heats T.
!           The values on the faces are fixed.
! Discrete: central differences on n points an edge, h = 1 / (n - 1). A time step solves
!             (I - dt L_x) (I - dt L_y) (I - dt L_z) change = dt * right-hand side,
!           where L_d is the Jacobian along axis d (with a third of the reaction's): in each
!           factor, one block-tridiagonal system of 5x5 blocks for every line of the mesh.
! Check:    f is computed by calculus so that a known field of quadratic polynomials stays at
!           rest. Its velocity component d does not depend on coordinate d, so every flux is
!           quadratic along its own axis, and central differences are exact: at the known field
!           the right-hand side must vanish up to rounding. From a smooth disturbance, the error
!           must fall as the factored scheme lets the smoothest mode fall, at every mesh size. (A
!           wrong Jacobian does not move the field at rest: it shows only if it spoils this fall.)
!
! Usage: adi N [STEPS], with N points along each edge, faces included.
! Exit status: 0 if the checks hold, 1 if one does not, 2 if an argument makes no sense.

module physics
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: dp = real64
  integer, parameter :: temperature = 4, species = 5

  real(dp), parameter :: diffusivity(5) = [0.5_dp, 0.5_dp, 0.5_dp, 0.6_dp, 0.4_dp]
  real(dp), parameter :: pressure = 0.4_dp
  real(dp), parameter :: reaction_rate = 1.0_dp
  real(dp), parameter :: reaction_heat = 0.5_dp
  real(dp), parameter :: time_step = 0.1_dp

contains

  ! What the reaction adds to du/dt.
  pure subroutine add_reaction(u, change)
    real(dp), intent(in) :: u(5)
    real(dp), intent(inout) :: change(5)
    real(dp) :: rate

    rate = reaction_rate * u(temperature) * u(species)
    change(temperature) = change(temperature) + reaction_heat * rate
    change(species) = change(species) - rate
  end subroutine add_reaction

  ! block = block + factor * dR/du
  pure subroutine add_reaction_jacobian(u, factor, block)
    real(dp), intent(in) :: u(5), factor
    real(dp), intent(inout) :: block(5, 5)
    real(dp) :: by_temperature, by_species

    by_temperature = factor * reaction_rate * u(species)
    by_species = factor * reaction_rate * u(temperature)
    block(temperature, temperature) = block(temperature, temperature) &
      + reaction_heat * by_temperature
    block(temperature, species) = block(temperature, species) + reaction_heat * by_species
    block(species, temperature) = block(species, temperature) - by_temperature
    block(species, species) = block(species, species) - by_species
  end subroutine add_reaction_jacobian

  ! block = factor * dF_d/du + diagonal, F_d being the flux along the axis.
  pure subroutine set_flux_jacobian(axis, u, factor, diagonal, block)
    integer, intent(in) :: axis
    real(dp), intent(in) :: u(5), factor, diagonal(5)
    real(dp), intent(out) :: block(5, 5)
    integer :: m

    block = 0.0_dp
    do m = 1, 5
      block(m, m) = factor * u(axis) + diagonal(m)
    end do
    do m = 1, 5
      block(m, axis) = block(m, axis) + factor * u(m)
    end do
    block(axis, temperature) = block(axis, temperature) + factor * pressure
  end subroutine set_flux_jacobian

end module physics

! The field that is at rest, and the source f that keeps it there.
module known_field
  use physics
  implicit none
  private
  public :: known_state, known_source

  ! Unknown m is constant(m) + sum over axes a of linear(a, m) x_a + quadratic(a, m) x_a^2. The
  ! zeros of velocity d on axis d make the flow free of divergence (and differences exact).
  real(dp), parameter :: constant(5) = [0.6_dp, -0.3_dp, 0.4_dp, 1.2_dp, 0.8_dp]
  real(dp), parameter :: linear(3, 5) = reshape([ &
     0.0_dp,  0.3_dp, -0.2_dp, &
     0.4_dp,  0.0_dp,  0.1_dp, &
    -0.3_dp,  0.2_dp,  0.0_dp, &
     0.2_dp, -0.4_dp,  0.3_dp, &
    -0.1_dp,  0.3_dp,  0.2_dp], [3, 5])
  real(dp), parameter :: quadratic(3, 5) = reshape([ &
     0.0_dp, -0.2_dp,  0.4_dp, &
    -0.1_dp,  0.0_dp,  0.3_dp, &
     0.2_dp,  0.1_dp,  0.0_dp, &
     0.3_dp,  0.2_dp, -0.1_dp, &
     0.2_dp, -0.2_dp,  0.1_dp], [3, 5])

contains

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

  ! f = v . grad(u) + pressure * grad(T) - diffusivity * laplacian(u) - R(u), by calculus.
  pure subroutine known_source(position, source)
    real(dp), intent(in) :: position(3)
    real(dp), intent(out) :: source(5)
    real(dp) :: u(5), gradient(3, 5), gain(5)
    integer :: axis, m

    call known_state(position, u)
    do m = 1, 5
      do axis = 1, 3
        gradient(axis, m) = linear(axis, m) + 2.0_dp * quadratic(axis, m) * position(axis)
      end do
    end do
    gain = 0.0_dp
    call add_reaction(u, gain)
    do m = 1, 5
      source(m) = dot_product(u(1:3), gradient(:, m)) &
        - diffusivity(m) * 2.0_dp * sum(quadratic(:, m)) - gain(m)
    end do
    source(1:3) = source(1:3) + pressure * gradient(:, temperature)
  end subroutine known_source

end module known_field

! Products and solutions of 5x5 blocks, and the block-tridiagonal solver made of them.
module block_lines
  use physics, only: dp
  implicit none
  private
  public :: solve_line

contains

  ! target = target - block * vector
  pure subroutine subtract_matvec(block, vector, target)
    real(dp), intent(in) :: block(5, 5), vector(5)
    real(dp), intent(inout) :: target(5)
    integer :: column

    do column = 1, 5
      target = target - block(:, column) * vector(column)
    end do
  end subroutine subtract_matvec

  ! target = target - left * right
  pure subroutine subtract_matmul(left, right, target)
    real(dp), intent(in) :: left(5, 5), right(5, 5)
    real(dp), intent(inout) :: target(5, 5)
    integer :: column

    do column = 1, 5
      call subtract_matvec(left, right(:, column), target(:, column))
    end do
  end subroutine subtract_matmul

  ! block becomes L (unit diagonal) and U. No pivoting: in a time step the diagonal dominates.
  pure subroutine factor_block(block)
    real(dp), intent(inout) :: block(5, 5)
    integer :: pivot, row, column

    do pivot = 1, 4
      do row = pivot + 1, 5
        block(row, pivot) = block(row, pivot) / block(pivot, pivot)
      end do
      do column = pivot + 1, 5
        do row = pivot + 1, 5
          block(row, column) = block(row, column) - block(row, pivot) * block(pivot, column)
        end do
      end do
    end do
  end subroutine factor_block

  ! vector = (L U)^-1 vector, with both factors in one block.
  pure subroutine substitute(factors, vector)
    real(dp), intent(in) :: factors(5, 5)
    real(dp), intent(inout) :: vector(5)
    integer :: row, column

    do column = 1, 4
      do row = column + 1, 5
        vector(row) = vector(row) - factors(row, column) * vector(column)
      end do
    end do
    do column = 5, 1, -1
      vector(column) = vector(column) / factors(column, column)
      do row = 1, column - 1
        vector(row) = vector(row) - factors(row, column) * vector(column)
      end do
    end do
  end subroutine substitute

  ! Solves lhs(:,:,1,i) x(i-1) + lhs(:,:,2,i) x(i) + lhs(:,:,3,i) x(i+1) = right(:,i) by block
  ! elimination. right becomes x; lhs is used up.
  pure subroutine solve_line(n, lhs, right)
    integer, intent(in) :: n
    real(dp), intent(inout) :: lhs(5, 5, 3, n), right(5, n)
    integer :: i, column

    do i = 1, n
      if (i > 1) then
        call subtract_matvec(lhs(:, :, 1, i), right(:, i - 1), right(:, i))
        call subtract_matmul(lhs(:, :, 1, i), lhs(:, :, 3, i - 1), lhs(:, :, 2, i))
      end if
      call factor_block(lhs(:, :, 2, i))
      do column = 1, 5
        call substitute(lhs(:, :, 2, i), lhs(:, column, 3, i))
      end do
      call substitute(lhs(:, :, 2, i), right(:, i))
    end do
    do i = n - 1, 1, -1
      call subtract_matvec(lhs(:, :, 3, i), right(:, i + 1), right(:, i))
    end do
  end subroutine solve_line

end module block_lines

! One implicit time step: right-hand side, a sweep along each axis, and the update.
! All fields are (5, n, n, n): unknown first, then x, y, z.
module time_stepping
  use physics
  use block_lines, only: solve_line
  implicit none
  private
  public :: compute_rhs, x_solve, y_solve, z_solve, add

contains

  ! rhs = du/dt inside the mesh, and zero on its faces.
  subroutine compute_rhs(n, u, source, rhs)
    integer, intent(in) :: n
    real(dp), intent(in) :: u(5, n, n, n), source(5, n, n, n)
    real(dp), intent(out) :: rhs(5, n, n, n)
    integer :: i, j, k

    rhs = 0.0_dp
    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          rhs(:, i, j, k) = source(:, i, j, k)
          call add_reaction(u(:, i, j, k), rhs(:, i, j, k))
          call add_axis(n, 1, u(:, i - 1, j, k), u(:, i, j, k), u(:, i + 1, j, k), rhs(:, i, j, k))
          call add_axis(n, 2, u(:, i, j - 1, k), u(:, i, j, k), u(:, i, j + 1, k), rhs(:, i, j, k))
          call add_axis(n, 3, u(:, i, j, k - 1), u(:, i, j, k), u(:, i, j, k + 1), rhs(:, i, j, k))
        end do
      end do
    end do
  end subroutine compute_rhs

  ! Adds what flux and diffusion along one axis change in a point between its two neighbours.
  pure subroutine add_axis(n, axis, below, here, above, change)
    integer, intent(in) :: n, axis
    real(dp), intent(in) :: below(5), here(5), above(5)
    real(dp), intent(inout) :: change(5)
    real(dp) :: by_first, by_second
    integer :: m

    by_first = 0.5_dp * (n - 1)
    by_second = real(n - 1, dp)**2
    do m = 1, 5
      change(m) = change(m) - by_first * (above(axis) * above(m) - below(axis) * below(m)) &
        + by_second * diffusivity(m) * (above(m) - 2.0_dp * here(m) + below(m))
    end do
    change(axis) = change(axis) - by_first * pressure * (above(temperature) - below(temperature))
  end subroutine add_axis

  ! lhs = the rows of I - dt L for one line of states along an axis; its ends do not change.
  pure subroutine build_line(n, axis, state, lhs)
    integer, intent(in) :: n, axis
    real(dp), intent(in) :: state(5, n)
    real(dp), intent(out) :: lhs(5, 5, 3, n)
    real(dp) :: by_first, by_second(5)
    integer :: i, m

    by_first = time_step * 0.5_dp * (n - 1)
    by_second = time_step * diffusivity * real(n - 1, dp)**2
    lhs(:, :, :, 1) = 0.0_dp
    lhs(:, :, :, n) = 0.0_dp
    do m = 1, 5
      lhs(m, m, 2, 1) = 1.0_dp
      lhs(m, m, 2, n) = 1.0_dp
    end do
    do i = 2, n - 1
      call set_flux_jacobian(axis, state(:, i - 1), -by_first, -by_second, lhs(:, :, 1, i))
      call set_flux_jacobian(axis, state(:, i + 1), by_first, -by_second, lhs(:, :, 3, i))
      lhs(:, :, 2, i) = 0.0_dp
      do m = 1, 5
        lhs(m, m, 2, i) = 1.0_dp + 2.0_dp * by_second(m)
      end do
      call add_reaction_jacobian(state(:, i), -time_step / 3.0_dp, lhs(:, :, 2, i))
    end do
  end subroutine build_line

  ! Lines along x lie in one piece of memory, and are solved where they are.
  subroutine x_solve(n, u, rhs)
    integer, intent(in) :: n
    real(dp), intent(in) :: u(5, n, n, n)
    real(dp), intent(inout) :: rhs(5, n, n, n)
    real(dp) :: lhs(5, 5, 3, n)
    integer :: j, k

    do k = 2, n - 1
      do j = 2, n - 1
        call build_line(n, 1, u(:, :, j, k), lhs)
        call solve_line(n, lhs, rhs(:, :, j, k))
      end do
    end do
  end subroutine x_solve

  ! Lines along y are gathered, solved and put back.
  subroutine y_solve(n, u, rhs)
    integer, intent(in) :: n
    real(dp), intent(in) :: u(5, n, n, n)
    real(dp), intent(inout) :: rhs(5, n, n, n)
    real(dp) :: lhs(5, 5, 3, n), state(5, n), change(5, n)
    integer :: i, j, k

    do k = 2, n - 1
      do i = 2, n - 1
        do j = 1, n
          state(:, j) = u(:, i, j, k)
          change(:, j) = rhs(:, i, j, k)
        end do
        call build_line(n, 2, state, lhs)
        call solve_line(n, lhs, change)
        do j = 1, n
          rhs(:, i, j, k) = change(:, j)
        end do
      end do
    end do
  end subroutine y_solve

  ! Lines along z, as those along y, a whole plane of the mesh apart from point to point.
  subroutine z_solve(n, u, rhs)
    integer, intent(in) :: n
    real(dp), intent(in) :: u(5, n, n, n)
    real(dp), intent(inout) :: rhs(5, n, n, n)
    real(dp) :: lhs(5, 5, 3, n), state(5, n), change(5, n)
    integer :: i, j, k

    do j = 2, n - 1
      do i = 2, n - 1
        do k = 1, n
          state(:, k) = u(:, i, j, k)
          change(:, k) = rhs(:, i, j, k)
        end do
        call build_line(n, 3, state, lhs)
        call solve_line(n, lhs, change)
        do k = 1, n
          rhs(:, i, j, k) = change(:, k)
        end do
      end do
    end do
  end subroutine z_solve

  ! u = u + rhs, which by now holds the change; it is zero on the faces.
  subroutine add(n, rhs, u)
    integer, intent(in) :: n
    real(dp), intent(in) :: rhs(5, n, n, n)
    real(dp), intent(inout) :: u(5, n, n, n)
    integer :: i, j, k

    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          u(:, i, j, k) = u(:, i, j, k) + rhs(:, i, j, k)
        end do
      end do
    end do
  end subroutine add

end module time_stepping

! The start, and the norms by which the result is judged.
module verification
  use physics
  use known_field
  implicit none
  private
  public :: initialise, disturb, residual, error

contains

  pure function position(n, i, j, k) result(x)
    integer, intent(in) :: n, i, j, k
    real(dp) :: x(3)

    x = real([i - 1, j - 1, k - 1], dp) / (n - 1)
  end function position

  ! The known field and its source.
  subroutine initialise(n, u, source)
    integer, intent(in) :: n
    real(dp), intent(out) :: u(5, n, n, n), source(5, n, n, n)
    integer :: i, j, k

    do k = 1, n
      do j = 1, n
        do i = 1, n
          call known_state(position(n, i, j, k), u(:, i, j, k))
          call known_source(position(n, i, j, k), source(:, i, j, k))
        end do
      end do
    end do
  end subroutine initialise

  ! Adds a smooth bump, different for each unknown, that is zero on the faces.
  subroutine disturb(n, u)
    integer, intent(in) :: n
    real(dp), intent(inout) :: u(5, n, n, n)
    real(dp), parameter :: height(5) = [0.3_dp, -0.2_dp, 0.25_dp, 0.4_dp, -0.35_dp]
    real(dp) :: bump(n)
    integer :: i, j, k

    do i = 1, n
      bump(i) = sin(acos(-1.0_dp) * (i - 1) / (n - 1))
    end do
    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          u(:, i, j, k) = u(:, i, j, k) + height * bump(i) * bump(j) * bump(k)
        end do
      end do
    end do
  end subroutine disturb

  ! For each unknown, the root mean square of the right-hand side.
  subroutine residual(n, rhs, norm)
    integer, intent(in) :: n
    real(dp), intent(in) :: rhs(5, n, n, n)
    real(dp), intent(out) :: norm(5)
    integer :: i, j, k

    norm = 0.0_dp
    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          norm = norm + rhs(:, i, j, k)**2
        end do
      end do
    end do
    norm = sqrt(norm / real(n - 2, dp)**3)
  end subroutine residual

  ! For each unknown, the root mean square distance from the known field.
  subroutine error(n, u, norm)
    integer, intent(in) :: n
    real(dp), intent(in) :: u(5, n, n, n)
    real(dp), intent(out) :: norm(5)
    real(dp) :: known(5)
    integer :: i, j, k

    norm = 0.0_dp
    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          call known_state(position(n, i, j, k), known)
          norm = norm + (u(:, i, j, k) - known)**2
        end do
      end do
    end do
    norm = sqrt(norm / real(n - 2, dp)**3)
  end subroutine error

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

    write (error_unit, '(2a)') 'adi: ', reason
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

program adi
  use physics
  use time_stepping
  use verification
  use arguments
  implicit none
  ! A step leaves 1 - 3 m / (1 + m)^3 of the smoothest mode, m = dt * diffusivity * pi^2: about
  ! 0.56 for each unknown, and somewhat more or less as the unknowns disturb each other. So it
  ! goes while that mode dominates; what little is left then is rough, and fades more slowly.
  real(dp), parameter :: allowed_per_step = 0.7_dp
  integer, parameter :: smooth_steps = 20
  ! An error below this is rounding, and differs between compilers.
  real(dp), parameter :: rounding = 1.0e-8_dp
  character(len=11), parameter :: unknown(5) = &
    ['velocity x ', 'velocity y ', 'velocity z ', 'temperature', 'species    ']
  real(dp), allocatable, dimension(:, :, :, :) :: u, rhs, source
  real(dp), dimension(5) :: rest, error_before, error_after, residual_before, residual_after
  integer :: n, steps, step, status, m
  logical :: at_rest, fallen

  if (command_argument_count() < 1 .or. command_argument_count() > 2) &
    call reject('usage: adi N [STEPS]')
  n = whole_number(1, 'the size N', 4, 10000)
  steps = 5
  if (command_argument_count() > 1) steps = whole_number(2, 'STEPS', 1, 1000000)
  call require_memory(n, 3 * 5 * 8 * real(n, dp)**3)
  allocate (u(5, n, n, n), rhs(5, n, n, n), source(5, n, n, n), stat=status)
  if (status /= 0) call reject('no memory for this size; choose a smaller one')

  call initialise(n, u, source)
  call compute_rhs(n, u, source, rhs)
  call residual(n, rhs, rest)
  call disturb(n, u)
  call error(n, u, error_before)
  call compute_rhs(n, u, source, rhs)
  call residual(n, rhs, residual_before)

  do step = 1, steps
    rhs = time_step * rhs
    call x_solve(n, u, rhs)
    call y_solve(n, u, rhs)
    call z_solve(n, u, rhs)
    call add(n, rhs, u)
    call compute_rhs(n, u, source, rhs)
  end do

  call residual(n, rhs, residual_after)
  call error(n, u, error_after)
  deallocate (u, rhs, source)

  write (*, '(a, i0, a, i0, a)') 'adi: ', n, '^3 points of 5 unknowns, ', steps, ' steps'
  write (*, '(11x, 2a)') '  error before       after', '  residual before       after'
  do m = 1, 5
    write (*, '(a, 2x, 2a, 5x, 2a)') unknown(m), figure(error_before(m)), figure(error_after(m)), &
      figure(residual_before(m)), figure(residual_after(m))
  end do
  ! Rounding in the second differences grows as 1 / h^2.
  at_rest = all(rest <= 1.0e-15_dp * real(n, dp)**2)
  fallen = all(error_after <= allowed_per_step**min(steps, smooth_steps) * error_before)
  write (*, '(2a)') 'known field at rest: ', verdict(at_rest)
  write (*, '(2a)') 'error falls as the scheme predicts: ', verdict(fallen)
  if (.not. (at_rest .and. fallen)) stop 1, quiet=.true.

contains

  ! A norm in twelve columns, in digits that no compiler changes.
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

end program adi
