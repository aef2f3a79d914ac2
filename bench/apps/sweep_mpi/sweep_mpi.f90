! Discrete-ordinates transport in a cube, as ../sweep, on a grid of MPI processes that split it along x and y.
!
! Model:    that of ../sweep: S6 directions, diamond differences, negative fluxes mended cell by cell.
! Order:    an octant is swept in blocks of ANGLES directions, each in blocks of PLANES planes along z. For a block a
!           process gets what flows in from its neighbours on the side that the particles come from, sweeps its cells, and
!           sends on what flows out. So processes work one after the other, as a pipeline along both diagonals of the grid.
! Result:   every cell is computed from the same numbers in the same order on any grid, so the checksum, a sum of the bits
!           of all fluxes, is always the same.
! Imbalance: SKEW cells along x are given to the last column of processes, and the rest shared out evenly.
! Check:    in each step, the particles that are made and scattered equal those that collide and leave, up to rounding; no
!           flux is negative; and the collisions that a step adds are fewer than in the step before, at least by the
!           largest s / t there is.
!
! Usage: sweep_mpi N [STEPS [PLANES ANGLES [PX PY [SKEW]]]], with N cells along each edge, on PX x PY processes; as
! MPI_Dims_create says if both are 0 or not given.
! Exit status: 0 if the checks hold, 1 if one does not, 2 if an argument makes no sense.

! The directions of one octant; those of the others differ by signs.
module directions
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: dp = real64
  integer, parameter :: per_octant = 6

  ! Cosines of the level-symmetric S6 set, and weights that add up to 1 over all octants: see ../sweep.
  real(dp), parameter :: a = 0.26663540151670456_dp
  real(dp), parameter :: b = sqrt(0.5_dp * (1.0_dp - a**2))
  real(dp), parameter :: c = sqrt(1.0_dp - 2.0_dp * a**2)
  real(dp), parameter :: cosine(3, per_octant) = reshape([ &
    a, a, c,   a, b, b,   a, c, a,   b, a, b,   b, b, a,   c, a, a], [3, per_octant])
  real(dp), parameter :: outer = 0.17612613086338327_dp / 8.0_dp
  real(dp), parameter :: inner = 1.0_dp / 24.0_dp - outer
  real(dp), parameter :: weight(per_octant) = [outer, inner, outer, inner, inner, outer]
end module directions

! The grid of processes and what each of them has of the cube.
module grid
  use mpi
  implicit none
  private
  public :: share, take_share

  type share
    integer :: n                    ! cells along an edge of the cube
    integer :: extent(2), first(2)  ! cells along x and y of this process, and how many are before them
    integer :: processes(2)         ! along x and y
    integer :: rank, communicator
    integer :: below(2), above(2)   ! neighbours towards lower and higher x and y; MPI_PROC_NULL: none
  end type share

contains

  ! Called with processes(:) that make up the whole of MPI_COMM_WORLD.
  subroutine take_share(n, processes, skew, mine)
    integer, intent(in) :: n, processes(2), skew
    type(share), intent(out) :: mine
    integer :: axis, spare, place(2), error

    mine%n = n
    mine%processes = processes
    call MPI_Cart_create(MPI_COMM_WORLD, 2, processes, [.false., .false.], .false., mine%communicator, error)
    call MPI_Comm_rank(mine%communicator, mine%rank, error)
    call MPI_Cart_coords(mine%communicator, mine%rank, 2, place, error)
    do axis = 1, 2
      call MPI_Cart_shift(mine%communicator, axis - 1, 1, mine%below(axis), mine%above(axis), error)
      spare = merge(skew, 0, axis == 1)
      mine%first(axis) = (n - spare) * place(axis) / processes(axis)
      mine%extent(axis) = (n - spare) * (place(axis) + 1) / processes(axis) - mine%first(axis)
      if (place(axis) == processes(axis) - 1) mine%extent(axis) = mine%extent(axis) + spare
    end do
  end subroutine take_share

end module grid

! One sweep over all octants. Fields are (x, y, z).
module transport
  use mpi
  use directions
  use grid
  implicit none
  private
  public :: sweep_octants

contains

  ! The flux phi that the emission (scattered and made, in each cell) gives rise to where nothing enters the cube. outflow
  ! is what leaves the cube through faces of this process; least is the least psi on faces that blocks are left by.
  subroutine sweep_octants(mine, planes, angles, total, emission, flux, outflow, least)
    type(share), intent(in) :: mine
    integer, intent(in) :: planes, angles
    real(dp), dimension(mine%extent(1), mine%extent(2), mine%n), intent(in) :: total, emission
    real(dp), intent(out) :: flux(mine%extent(1), mine%extent(2), mine%n), outflow, least
    integer :: octant, first, towards(3)

    flux = 0.0_dp
    outflow = 0.0_dp
    least = 0.0_dp
    do octant = 0, 7
      towards = merge(-1, 1, [btest(octant, 0), btest(octant, 1), btest(octant, 2)])
      do first = 1, per_octant, angles
        call sweep_angles(mine, towards, first, min(angles, per_octant - first + 1), planes, total, emission, flux, &
          outflow, least)
      end do
    end do
  end subroutine sweep_octants

  ! Sweeps the directions first .. first + angles - 1 of the octant in which particles move towards higher (1) or lower
  ! (-1) x, y and z: blocks of planes one behind the other, each between getting what flows in and sending what flows out.
  subroutine sweep_angles(mine, towards, first, angles, planes, total, emission, flux, outflow, least)
    type(share), intent(in) :: mine
    integer, intent(in) :: towards(3), first, angles, planes
    real(dp), dimension(mine%extent(1), mine%extent(2), mine%n), intent(in) :: total, emission
    real(dp), intent(inout) :: flux(mine%extent(1), mine%extent(2), mine%n), outflow, least
    real(dp) :: into_x(mine%extent(2), angles, planes), into_y(mine%extent(1), angles, planes)
    real(dp) :: into_z(mine%extent(1), mine%extent(2), angles)
    integer, parameter :: tag(2) = [1, 2]
    integer :: from(2), onto(2), done, block, error

    from = merge(mine%below, mine%above, towards(1:2) > 0)
    onto = merge(mine%above, mine%below, towards(1:2) > 0)
    into_z = 0.0_dp
    do done = 0, mine%n - 1, planes
      block = min(planes, mine%n - done)
      into_x = 0.0_dp
      into_y = 0.0_dp
      call MPI_Recv(into_x, mine%extent(2) * angles * block, MPI_DOUBLE_PRECISION, from(1), tag(1), &
        mine%communicator, MPI_STATUS_IGNORE, error)
      call MPI_Recv(into_y, mine%extent(1) * angles * block, MPI_DOUBLE_PRECISION, from(2), tag(2), &
        mine%communicator, MPI_STATUS_IGNORE, error)
      call sweep_block(mine, towards, first, angles, done, block, total, emission, flux, into_x, into_y, into_z)
      call MPI_Send(into_x, mine%extent(2) * angles * block, MPI_DOUBLE_PRECISION, onto(1), tag(1), &
        mine%communicator, error)
      call MPI_Send(into_y, mine%extent(1) * angles * block, MPI_DOUBLE_PRECISION, onto(2), tag(2), &
        mine%communicator, error)
      if (onto(1) == MPI_PROC_NULL) outflow = outflow + faces_flow(mine%n, first, angles, block, 1, into_x)
      if (onto(2) == MPI_PROC_NULL) outflow = outflow + faces_flow(mine%n, first, angles, block, 2, into_y)
      least = min(least, minval(into_x), minval(into_y), minval(into_z))
    end do
    outflow = outflow + layer_flow(mine%n, first, angles, into_z)
  end subroutine sweep_angles

  ! Sweeps so many planes after those done, line by line along x. into_x, into_y and into_z hold what enters the next
  ! cells, at last what leaves the block.
  subroutine sweep_block(mine, towards, first, angles, done, planes, total, emission, flux, into_x, into_y, into_z)
    type(share), intent(in) :: mine
    integer, intent(in) :: towards(3), first, angles, done, planes
    real(dp), dimension(mine%extent(1), mine%extent(2), mine%n), intent(in) :: total, emission
    real(dp), intent(inout) :: flux(mine%extent(1), mine%extent(2), mine%n)
    real(dp), intent(inout) :: into_x(mine%extent(2), angles, planes), into_y(mine%extent(1), angles, planes)
    real(dp), intent(inout) :: into_z(mine%extent(1), mine%extent(2), angles)
    integer :: plane, angle, number, j, k

    do plane = 1, planes
      k = along(mine%n, towards(3), done + plane)
      do angle = 1, angles
        do number = 1, mine%extent(2)
          j = along(mine%extent(2), towards(2), number)
          call sweep_line(mine%extent(1), mine%n, towards(1), first + angle - 1, total(:, j, k), emission(:, j, k), &
            flux(:, j, k), into_x(j, angle, plane), into_y(:, angle, plane), into_z(:, j, angle))
        end do
      end do
    end do
  end subroutine sweep_block

  ! The place of the cell that particles cross as the number-th of n.
  pure integer function along(n, towards, number)
    integer, intent(in) :: n, towards, number

    along = merge(number, n + 1 - number, towards > 0)
  end function along

  ! Particles that pass faces across an axis in a block, from psi in these faces.
  pure real(dp) function faces_flow(n, first, angles, planes, axis, psi)
    integer, intent(in) :: n, first, angles, planes, axis
    real(dp), intent(in) :: psi(:, :, :)
    integer :: angle

    faces_flow = 0.0_dp
    do angle = 1, angles
      faces_flow = faces_flow + weight(first + angle - 1) * cosine(axis, first + angle - 1) &
        * sum(psi(:, angle, 1:planes)) / real(n, dp)**2
    end do
  end function faces_flow

  ! The same for the layer of cells that particles leave the cube by along z.
  pure real(dp) function layer_flow(n, first, angles, psi)
    integer, intent(in) :: n, first, angles
    real(dp), intent(in) :: psi(:, :, :)
    integer :: angle

    layer_flow = 0.0_dp
    do angle = 1, angles
      layer_flow = layer_flow + weight(first + angle - 1) * cosine(3, first + angle - 1) &
        * sum(psi(:, :, angle)) / real(n, dp)**2
    end do
  end function layer_flow

  ! Crosses one line of cells, each after the one that it gets into_x from; n cells fill an edge of the cube.
  pure subroutine sweep_line(cells, n, towards, direction, total, emission, flux, into_x, into_y, into_z)
    integer, intent(in) :: cells, n, towards, direction
    real(dp), intent(in) :: total(cells), emission(cells)
    real(dp), intent(inout) :: flux(cells), into_x, into_y(cells), into_z(cells)
    real(dp) :: slope(3), psi, out_x, out_y, out_z
    integer :: number, i

    slope = cosine(:, direction) * n
    do number = 1, cells
      i = along(cells, towards, number)
      psi = (emission(i) &
        + 2.0_dp * (slope(1) * into_x + slope(2) * into_y(i) + slope(3) * into_z(i))) &
        / (total(i) + 2.0_dp * (slope(1) + slope(2) + slope(3)))
      out_x = 2.0_dp * psi - into_x
      out_y = 2.0_dp * psi - into_y(i)
      out_z = 2.0_dp * psi - into_z(i)
      if (min(out_x, out_y, out_z) < 0.0_dp) &
        call mend_cell(slope, total(i), emission(i), into_x, into_y(i), into_z(i), psi, &
          out_x, out_y, out_z)
      flux(i) = flux(i) + weight(direction) * psi
      into_x = out_x
      into_y(i) = out_y
      into_z(i) = out_z
    end do
  end subroutine sweep_line

  ! Where diamond differences make psi negative on faces that particles leave by, it becomes zero
  ! there, and the balance of the cell gives psi in it, until there is no such face.
  pure subroutine mend_cell(slope, total, emission, into_x, into_y, into_z, psi, &
      out_x, out_y, out_z)
    real(dp), intent(in) :: slope(3), total, emission, into_x, into_y, into_z
    real(dp), intent(inout) :: psi, out_x, out_y, out_z
    real(dp) :: into(3), out(3)
    logical :: free(3)

    into = [into_x, into_y, into_z]
    out = [out_x, out_y, out_z]
    free = .true.
    do while (any(out < 0.0_dp))
      free = free .and. out >= 0.0_dp
      psi = (emission + sum(slope * into * merge(2.0_dp, 1.0_dp, free))) &
        / (total + 2.0_dp * sum(merge(slope, 0.0_dp, free)))
      out = merge(2.0_dp * psi - into, 0.0_dp, free)
    end do
    out_x = out(1)
    out_y = out(2)
    out_z = out(3)
  end subroutine mend_cell

end module transport

! The iteration, and what it sees on its way.
module scattering_steps
  use mpi
  use directions
  use grid
  use transport
  implicit none
  private
  public :: outcome, iterate, checksum

  ! What is below this, relative to what is compared, is rounding.
  real(dp), parameter :: rounding = 1.0e-12_dp

  ! Numbers of particles in the whole cube, of the last step; change is that of the collisions.
  type outcome
    real(dp) :: made, absorbed, outflow, collided, change, largest
    logical :: balanced = .true., positive = .true., shrinks = .true.
  end type outcome

contains

  ! Does the steps from flux = 0; emission and before are scratch. The change must shrink by the
  ! factor most_scattering each step.
  subroutine iterate(mine, steps, planes, angles, most_scattering, total, scattering, source, &
      emission, before, flux, result)
    type(share), intent(in) :: mine
    integer, intent(in) :: steps, planes, angles
    real(dp), intent(in) :: most_scattering
    real(dp), dimension(mine%extent(1), mine%extent(2), mine%n), intent(in) :: total, scattering, source
    real(dp), dimension(mine%extent(1), mine%extent(2), mine%n), intent(out) :: emission, before, flux
    type(outcome), intent(out) :: result
    real(dp) :: part(4), whole(4), last_change, cell, least(1), least_of_all(1)
    integer :: step, error

    cell = 1.0_dp / real(mine%n, dp)**3
    result%change = huge(result%change)
    flux = 0.0_dp
    do step = 1, steps
      before = flux
      emission = scattering * flux + source
      call sweep_octants(mine, planes, angles, total, emission, flux, part(1), least(1))
      part(2) = sum(emission) * cell
      part(3) = sum(total * flux) * cell
      part(4) = sum(total * abs(flux - before)) * cell
      call MPI_Allreduce(part, whole, 4, MPI_DOUBLE_PRECISION, MPI_SUM, mine%communicator, error)
      call MPI_Allreduce(least, least_of_all, 1, MPI_DOUBLE_PRECISION, MPI_MIN, mine%communicator, error)
      last_change = result%change
      result%outflow = whole(1)
      result%collided = whole(3)
      result%change = whole(4)
      result%positive = result%positive .and. least_of_all(1) >= 0.0_dp
      result%balanced = result%balanced .and. abs(whole(2) - whole(3) - whole(1)) <= rounding * whole(2)
      result%shrinks = result%shrinks .and. &
        result%change <= most_scattering * last_change + rounding * result%collided
    end do
    part(1:2) = [sum(source) * cell, sum((total - scattering) * flux) * cell]
    call MPI_Allreduce(part, whole, 2, MPI_DOUBLE_PRECISION, MPI_SUM, mine%communicator, error)
    result%made = whole(1)
    result%absorbed = whole(2)
    part(1:2) = [maxval(flux), -minval(flux)]
    call MPI_Allreduce(part, whole, 2, MPI_DOUBLE_PRECISION, MPI_MAX, mine%communicator, error)
    result%largest = whole(1)
    result%positive = result%positive .and. -whole(2) >= 0.0_dp
  end subroutine iterate

  ! The bits of all fluxes as whole numbers, each modulo a prime number so that their sum does not overflow, added up.
  ! The first process has the result.
  function checksum(mine, flux) result(whole)
    use, intrinsic :: iso_fortran_env, only: int64
    type(share), intent(in) :: mine
    real(dp), intent(in) :: flux(mine%extent(1), mine%extent(2), mine%n)
    integer(int64), parameter :: prime = 2147483647_int64
    integer(int64) :: part, whole
    integer :: i, j, k, error

    part = 0
    do k = 1, mine%n
      do j = 1, mine%extent(2)
        do i = 1, mine%extent(1)
          part = part + modulo(transfer(flux(i, j, k), part), prime)
        end do
      end do
    end do
    whole = 0
    call MPI_Reduce(part, whole, 1, MPI_INTEGER8, MPI_SUM, 0, mine%communicator, error)
  end function checksum

end module scattering_steps

! The materials and the start.
module materials
  use directions
  use grid
  implicit none
  private
  public :: initialise, most_scattering

  real(dp), parameter :: core_total = 12.0_dp, core_scattering = 9.0_dp
  real(dp), parameter :: shield_total = 4.0_dp, shield_scattering = 1.0_dp
  real(dp), parameter :: most_scattering = core_scattering / core_total

contains

  ! The core fills half of each edge, and alone has a source.
  subroutine initialise(mine, total, scattering, source)
    type(share), intent(in) :: mine
    real(dp), dimension(mine%extent(1), mine%extent(2), mine%n), intent(out) :: total, scattering, source
    integer :: i, j, k
    logical :: in_core

    do k = 1, mine%n
      do j = 1, mine%extent(2)
        do i = 1, mine%extent(1)
          in_core = all(2 * abs(2 * [mine%first(1) + i, mine%first(2) + j, k] - mine%n - 1) <= mine%n)
          total(i, j, k) = merge(core_total, shield_total, in_core)
          scattering(i, j, k) = merge(core_scattering, shield_scattering, in_core)
          source(i, j, k) = merge(1.0_dp, 0.0_dp, in_core)
        end do
      end do
    end do
  end subroutine initialise

end module materials

! What the command line asks for; what makes no sense ends the program with status 2.
module arguments
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi
  implicit none
  private
  public :: whole_number, reject

contains

  ! Every process finds the same fault; the first one says so.
  subroutine reject(reason)
    character(len=*), intent(in) :: reason
    integer :: rank, error

    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    if (rank == 0) write (error_unit, '(2a)') 'sweep_mpi: ', reason
    call MPI_Finalize(error)
    stop 2, quiet=.true.
  end subroutine reject

  ! The number that argument place spells, if it is whole and from least to most; otherwise if there is no such argument.
  function whole_number(place, name, least, most, otherwise) result(number)
    integer, intent(in) :: place, least, most, otherwise
    character(len=*), intent(in) :: name
    integer :: number
    character(len=:), allocatable :: text
    character(len=80) :: range
    integer :: length

    number = otherwise
    if (place > command_argument_count()) return
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

end module arguments

program sweep_mpi
  use mpi
  use directions
  use grid
  use scattering_steps
  use materials
  use arguments
  implicit none
  ! A smaller change, relative to all collisions, has digits that differ between compilers.
  real(dp), parameter :: smallest_change = 1.0e-9_dp
  real(dp), allocatable, dimension(:, :, :) :: total, scattering, source, emission, before, flux
  type(share) :: mine
  type(outcome) :: result
  character(len=120) :: line
  integer :: n, steps, planes, angles, processes(2), all_processes, skew, status, error
  logical :: holds

  call MPI_Init(error)
  call MPI_Comm_size(MPI_COMM_WORLD, all_processes, error)
  if (.not. any(command_argument_count() == [1, 2, 4, 6, 7])) &
    call reject('usage: sweep_mpi N [STEPS [PLANES ANGLES [PX PY [SKEW]]]]')
  n = whole_number(1, 'the size N', 2, 10000, 0)
  steps = whole_number(2, 'STEPS', 1, 1000000, 5)
  planes = whole_number(3, 'PLANES', 1, n, min(8, n))
  angles = whole_number(4, 'ANGLES', 1, per_octant, 3)
  processes(1) = whole_number(5, 'PX', 0, n, 0)
  processes(2) = whole_number(6, 'PY', 0, n, 0)
  skew = whole_number(7, 'SKEW', 0, n - 1, 0)
  if (all(processes == 0)) call MPI_Dims_create(all_processes, 2, processes, error)
  if (product(processes) /= all_processes) then
    write (line, '(3(a, i0))') 'a grid of ', processes(1), ' x ', processes(2), ' does not fit the number of processes, ', &
      all_processes
    call reject(trim(line))
  end if
  if (any(processes > [n - skew, n])) then
    write (line, '(4(a, i0))') 'size ', n, ' with a skew of ', skew, ' has too few cells for ', processes(1), ' x ', &
      processes(2)
    call reject(trim(line) // ' processes')
  end if

  call take_share(n, processes, skew, mine)
  associate (nx => mine%extent(1), ny => mine%extent(2))
    allocate (total(nx, ny, n), scattering(nx, ny, n), source(nx, ny, n), emission(nx, ny, n), before(nx, ny, n), &
      flux(nx, ny, n), stat=status)
  end associate
  if (status /= 0) call reject('no memory for this size; choose a smaller one')

  call initialise(mine, total, scattering, source)
  call iterate(mine, steps, planes, angles, most_scattering, total, scattering, source, emission, before, flux, result)
  holds = result%balanced .and. result%positive .and. result%shrinks
  call report(checksum(mine, flux))
  deallocate (total, scattering, source, emission, before, flux)
  call MPI_Finalize(error)
  if (.not. holds) stop 1, quiet=.true.

contains

  ! What the first process prints.
  subroutine report(bits)
    use, intrinsic :: iso_fortran_env, only: int64
    integer(int64), intent(in) :: bits

    if (mine%rank /= 0) return
    write (*, '(4(a, i0), a)') 'sweep_mpi: ', n, '^3 cells, 48 directions in blocks of ', angles, &
      ' and ', planes, ' planes, ', steps, ' steps'
    write (*, '(a, es11.4)') 'particles made:               ', result%made
    write (*, '(a, es11.4)') 'absorbed:                     ', result%absorbed
    write (*, '(a, es11.4)') 'gone out:                     ', result%outflow
    write (*, '(a, es11.4)') 'largest flux:                 ', result%largest
    if (result%change > smallest_change * result%collided) then
      write (*, '(a, es11.4)') 'change in the last step:      ', result%change / result%collided
    else
      write (*, '(a, es11.4)') 'change in the last step below:', smallest_change
    end if
    write (*, '(2a)') 'particles balance: ', verdict(result%balanced)
    write (*, '(2a)') 'no flux is negative: ', verdict(result%positive)
    write (*, '(2a)') 'change shrinks as scattering tells: ', verdict(result%shrinks)
    write (*, '(a, i0)') 'checksum: ', bits
  end subroutine report

  function verdict(holds) result(text)
    logical, intent(in) :: holds
    character(len=6) :: text

    text = merge('passed', 'FAILED', holds)
  end function verdict

end program sweep_mpi
