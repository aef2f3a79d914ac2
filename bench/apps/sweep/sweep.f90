! Discrete-ordinates transport in a cube: sweeps over eight octants, in pipelined blocks of angles.
!
! Model:    particles of one speed in N^3 cells of edge h = 1 / N, that enter from nowhere, are made
!           by a source q, and collide at the rate t, after which the share s / t goes on in any
!           direction and the rest is absorbed:
!             direction . grad(psi) + t psi = s phi + q,    phi = sum over directions of weight psi.
!           A weaker absorber fills the cube around a dense, scattering core that has the source.
! Discrete: level-symmetric S6 directions, six an octant. In a cell, diamond differences (the flux
!           in it is the mean of those through opposite faces), unless one leaving is negative: that
!           one becomes zero, and the others follow from the balance of the cell.
! Order:    in an octant every cell needs its three neighbours on the side that the particles come
!           from. An octant is swept in blocks of ANGLES directions, each in blocks of PLANES
!           planes along z. A block's lines of cells along x form a pipeline: in one stage those
!           whose y, z and direction, counted in the block, have the same sum. They need lines
!           of the stage before, but not each other.
! Iteration: a step sweeps all octants with the scattering of the step before.
! Check:    in each step, the particles that are made and scattered equal those that collide and
!           leave, up to rounding; no flux is negative; the flux is as symmetric as the cube; and
!           the collisions that a step adds are fewer than in the step before, at least by the
!           largest s / t there is. In a small
!           cube of one material, with psi = 1 flowing in from outside and a source that makes up
!           for what is absorbed, psi must be 1 everywhere.
!
! Usage: sweep N [STEPS [PLANES ANGLES]], with N cells along each edge.
! Exit status: 0 if the checks hold, 1 if one does not, 2 if an argument makes no sense.

! The directions of one octant; those of the others differ by signs.
module directions
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: dp = real64
  integer, parameter :: per_octant = 6

  ! Cosines of the level-symmetric S6 set: the squares of a, b and c have equal distances, and
  ! a^2 + 2 b^2 = 1. The first one, and the weights, make the mean of the second, fourth and sixth
  ! power of a cosine over all directions exact: 1/3, 1/5 and 1/7.
  real(dp), parameter :: a = 0.26663540151670456_dp
  real(dp), parameter :: b = sqrt(0.5_dp * (1.0_dp - a**2))
  real(dp), parameter :: c = sqrt(1.0_dp - 2.0_dp * a**2)
  real(dp), parameter :: cosine(3, per_octant) = reshape([ &
    a, a, c,   a, b, b,   a, c, a,   b, a, b,   b, b, a,   c, a, a], [3, per_octant])

  ! The weights of all directions in all eight octants add up to 1.
  real(dp), parameter :: outer = 0.17612613086338327_dp / 8.0_dp
  real(dp), parameter :: inner = 1.0_dp / 24.0_dp - outer
  real(dp), parameter :: weight(per_octant) = [outer, inner, outer, inner, inner, outer]
end module directions

! One sweep over all octants. Fields are (x, y, z).
module transport
  use directions
  implicit none
  private
  public :: sweep_octants

contains

  ! The flux phi that the emission (scattered and made, in each cell) gives rise to where particles
  ! enter with psi = inflow; outflow is the number that leave less the number that enter, and least
  ! is the least psi on the faces that blocks are left by.
  subroutine sweep_octants(n, planes, angles, inflow, total, emission, flux, outflow, least)
    integer, intent(in) :: n, planes, angles
    real(dp), intent(in) :: inflow, total(n, n, n), emission(n, n, n)
    real(dp), intent(out) :: flux(n, n, n), outflow, least
    integer :: octant, first, towards(3)

    flux = 0.0_dp
    outflow = 0.0_dp
    least = inflow
    do octant = 0, 7
      towards = merge(-1, 1, [btest(octant, 0), btest(octant, 1), btest(octant, 2)])
      do first = 1, per_octant, angles
        call sweep_angles(n, towards, first, min(angles, per_octant - first + 1), planes, inflow, &
          total, emission, flux, outflow, least)
      end do
    end do
  end subroutine sweep_octants

  ! Sweeps the directions first .. first + angles - 1 of the octant in which particles move
  ! towards higher (1) or lower (-1) x, y and z.
  subroutine sweep_angles(n, towards, first, angles, planes, inflow, total, emission, flux, &
      outflow, least)
    integer, intent(in) :: n, towards(3), first, angles, planes
    real(dp), intent(in) :: inflow, total(n, n, n), emission(n, n, n)
    real(dp), intent(inout) :: flux(n, n, n), outflow, least
    real(dp) :: into_z(n, n, angles)
    integer :: done, j, angle

    into_z = inflow
    do done = 0, n - 1, planes
      call sweep_block(n, towards, first, angles, done, min(planes, n - done), inflow, total, &
        emission, flux, into_z, outflow, least)
      least = min(least, minval(into_z))
    end do
    do angle = 1, angles
      do j = 1, n
        outflow = outflow &
          + face_flow(n, first + angle - 1, 3, sum(into_z(:, j, angle)) - n * inflow)
      end do
    end do
  end subroutine sweep_angles

  ! Sweeps so many planes after those done, stage by stage. into_y and into_z hold what enters the
  ! next cells along y and z, at last what leaves the block.
  subroutine sweep_block(n, towards, first, angles, done, planes, inflow, total, emission, flux, &
      into_z, outflow, least)
    integer, intent(in) :: n, towards(3), first, angles, done, planes
    real(dp), intent(in) :: inflow, total(n, n, n), emission(n, n, n)
    real(dp), intent(inout) :: flux(n, n, n), into_z(n, n, angles), outflow, least
    real(dp) :: into_x, into_y(n, planes, angles)
    integer :: stage, angle, plane, j, k

    into_y = inflow
    do stage = 3, n + planes + angles
      do angle = max(1, stage - n - planes), min(angles, stage - 2)
        do plane = max(1, stage - angle - n), min(planes, stage - angle - 1)
          j = along(n, towards(2), stage - angle - plane)
          k = along(n, towards(3), done + plane)
          into_x = inflow
          call sweep_line(n, towards(1), first + angle - 1, total(:, j, k), emission(:, j, k), &
            flux(:, j, k), into_x, into_y(:, plane, angle), into_z(:, j, angle))
          outflow = outflow + face_flow(n, first + angle - 1, 1, into_x - inflow)
          least = min(least, into_x)
        end do
      end do
    end do
    least = min(least, minval(into_y))
    do angle = 1, angles
      do plane = 1, planes
        outflow = outflow &
          + face_flow(n, first + angle - 1, 2, sum(into_y(:, plane, angle)) - n * inflow)
      end do
    end do
  end subroutine sweep_block

  ! The place of the cell that particles cross as the number-th of n.
  pure integer function along(n, towards, number)
    integer, intent(in) :: n, towards, number

    along = merge(number, n + 1 - number, towards > 0)
  end function along

  ! Particles that pass faces across an axis, from the sum of psi in these faces.
  pure real(dp) function face_flow(n, direction, axis, psi)
    integer, intent(in) :: n, direction, axis
    real(dp), intent(in) :: psi

    face_flow = weight(direction) * cosine(axis, direction) * psi / real(n, dp)**2
  end function face_flow

  ! Crosses one line of cells, each after the one that it gets into_x from.
  pure subroutine sweep_line(n, towards, direction, total, emission, flux, into_x, into_y, into_z)
    integer, intent(in) :: n, towards, direction
    real(dp), intent(in) :: total(n), emission(n)
    real(dp), intent(inout) :: flux(n), into_x, into_y(n), into_z(n)
    real(dp) :: slope(3), psi, out_x, out_y, out_z
    integer :: number, i

    slope = cosine(:, direction) * n
    do number = 1, n
      i = along(n, towards, number)
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
  use directions
  use transport
  implicit none
  private
  public :: outcome, iterate

  ! What is below this, relative to what is compared, is rounding.
  real(dp), parameter, public :: rounding = 1.0e-12_dp

  ! Numbers of particles, of the last step; change is that of the collisions.
  type outcome
    real(dp) :: made, absorbed, outflow, collided, change
    logical :: balanced = .true., positive = .true., shrinks = .true.
  end type outcome

contains

  ! Does the steps from flux = 0; emission and before are scratch. The change must shrink by the
  ! factor most_scattering each step.
  subroutine iterate(n, steps, planes, angles, most_scattering, total, scattering, source, &
      emission, before, flux, result)
    integer, intent(in) :: n, steps, planes, angles
    real(dp), intent(in) :: most_scattering
    real(dp), dimension(n, n, n), intent(in) :: total, scattering, source
    real(dp), dimension(n, n, n), intent(out) :: emission, before, flux
    type(outcome), intent(out) :: result
    real(dp) :: emitted, last_change, cell, least
    integer :: step

    cell = 1.0_dp / real(n, dp)**3
    result%made = sum(source) * cell
    result%change = huge(result%change)
    flux = 0.0_dp
    do step = 1, steps
      before = flux
      emission = scattering * flux + source
      call sweep_octants(n, planes, angles, 0.0_dp, total, emission, flux, result%outflow, &
        least)
      result%positive = result%positive .and. least >= 0.0_dp
      emitted = sum(emission) * cell
      result%collided = sum(total * flux) * cell
      result%balanced = result%balanced .and. &
        abs(emitted - result%collided - result%outflow) <= rounding * emitted
      last_change = result%change
      result%change = sum(total * abs(flux - before)) * cell
      result%shrinks = result%shrinks .and. &
        result%change <= most_scattering * last_change + rounding * result%collided
    end do
    result%absorbed = sum((total - scattering) * flux) * cell
  end subroutine iterate

end module scattering_steps

! The materials, the start, and what the result is judged by.
module verification
  use directions
  use transport
  implicit none
  private
  public :: initialise, most_scattering, inspect, constant_fault

  real(dp), parameter :: core_total = 12.0_dp, core_scattering = 9.0_dp
  real(dp), parameter :: shield_total = 4.0_dp, shield_scattering = 1.0_dp
  real(dp), parameter :: most_scattering = core_scattering / core_total

contains

  ! The core fills half of each edge, and alone has a source.
  subroutine initialise(n, total, scattering, source)
    integer, intent(in) :: n
    real(dp), intent(out) :: total(n, n, n), scattering(n, n, n), source(n, n, n)
    integer :: i, j, k
    logical :: in_core

    do k = 1, n
      do j = 1, n
        do i = 1, n
          in_core = all(2 * abs(2 * [i, j, k] - n - 1) <= n)
          total(i, j, k) = merge(core_total, shield_total, in_core)
          scattering(i, j, k) = merge(core_scattering, shield_scattering, in_core)
          source(i, j, k) = merge(1.0_dp, 0.0_dp, in_core)
        end do
      end do
    end do
  end subroutine initialise

  ! The least and largest flux; skew is the largest difference that mirroring an axis, or
  ! exchanging axes, makes to it.
  subroutine inspect(n, flux, least, largest, skew)
    integer, intent(in) :: n
    real(dp), intent(in) :: flux(n, n, n)
    real(dp), intent(out) :: least, largest, skew
    integer :: i, j, k

    least = minval(flux)
    largest = maxval(flux)
    skew = 0.0_dp
    do k = 1, n
      do j = 1, n
        do i = 1, n
          skew = max(skew, &
            abs(flux(i, j, k) - flux(n + 1 - i, j, k)), &
            abs(flux(i, j, k) - flux(i, n + 1 - j, k)), &
            abs(flux(i, j, k) - flux(i, j, n + 1 - k)), &
            abs(flux(i, j, k) - flux(j, k, i)), &
            abs(flux(i, j, k) - flux(j, i, k)))
        end do
      end do
    end do
  end subroutine inspect

  ! The largest distance of phi from 1 in a small cube where it must be 1.
  real(dp) function constant_fault(planes, angles)
    integer, intent(in) :: planes, angles
    integer, parameter :: n = 5
    real(dp), dimension(n, n, n) :: total, flux
    real(dp) :: outflow, least

    total = 3.0_dp
    call sweep_octants(n, min(planes, n), angles, 1.0_dp, total, total, flux, outflow, &
      least)
    constant_fault = max(maxval(abs(flux - 1.0_dp)), abs(outflow))
  end function constant_fault

end module verification

! What the command line asks for; what makes no sense ends the program with status 2.
module arguments
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
  use directions, only: dp
  implicit none
  private
  public :: whole_number, require_memory, reject

contains

  subroutine reject(reason)
    character(len=*), intent(in) :: reason

    write (error_unit, '(2a)') 'sweep: ', reason
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

program sweep
  use directions
  use scattering_steps
  use verification
  use arguments
  implicit none
  ! A smaller change, relative to all collisions, has digits that differ between compilers.
  real(dp), parameter :: smallest_change = 1.0e-9_dp
  real(dp), allocatable, dimension(:, :, :) :: total, scattering, source, emission, before, flux
  type(outcome) :: result
  real(dp) :: largest, least, skew
  integer :: n, steps, planes, angles, status
  logical :: positive, symmetric, constant

  if (.not. any(command_argument_count() == [1, 2, 4])) &
    call reject('usage: sweep N [STEPS [PLANES ANGLES]]')
  n = whole_number(1, 'the size N', 2, 10000)
  steps = 5
  planes = min(8, n)
  angles = 3
  if (command_argument_count() > 1) steps = whole_number(2, 'STEPS', 1, 1000000)
  if (command_argument_count() > 2) then
    planes = whole_number(3, 'PLANES', 1, n)
    angles = whole_number(4, 'ANGLES', 1, per_octant)
  end if
  call require_memory(n, (6 * n + angles) * 8 * real(n, dp)**2)
  allocate (total(n, n, n), scattering(n, n, n), source(n, n, n), emission(n, n, n), &
    before(n, n, n), flux(n, n, n), stat=status)
  if (status /= 0) call reject('no memory for this size; choose a smaller one')

  call initialise(n, total, scattering, source)
  call iterate(n, steps, planes, angles, most_scattering, total, scattering, source, emission, &
    before, flux, result)
  call inspect(n, flux, least, largest, skew)
  deallocate (total, scattering, source, emission, before, flux)

  positive = result%positive .and. least >= 0.0_dp
  symmetric = skew <= rounding * largest
  constant = constant_fault(planes, angles) <= rounding
  write (*, '(4(a, i0), a)') 'sweep: ', n, '^3 cells, 48 directions in blocks of ', angles, &
    ' and ', planes, ' planes, ', steps, ' steps'
  write (*, '(a, es11.4)') 'particles made:               ', result%made
  write (*, '(a, es11.4)') 'absorbed:                     ', result%absorbed
  write (*, '(a, es11.4)') 'gone out:                     ', result%outflow
  write (*, '(a, es11.4)') 'largest flux:                 ', largest
  if (result%change > smallest_change * result%collided) then
    write (*, '(a, es11.4)') 'change in the last step:      ', result%change / result%collided
  else
    write (*, '(a, es11.4)') 'change in the last step below:', smallest_change
  end if
  write (*, '(2a)') 'particles balance: ', verdict(result%balanced)
  write (*, '(2a)') 'no flux is negative: ', verdict(positive)
  write (*, '(2a)') 'flux has the symmetry of the cube: ', verdict(symmetric)
  write (*, '(2a)') 'constant flux stays constant: ', verdict(constant)
  write (*, '(2a)') 'change shrinks as scattering tells: ', verdict(result%shrinks)
  if (.not. (result%balanced .and. positive .and. symmetric .and. constant .and. result%shrinks)) &
    stop 1, quiet=.true.

contains

  function verdict(holds) result(text)
    logical, intent(in) :: holds
    character(len=6) :: text

    text = merge('passed', 'FAILED', holds)
  end function verdict

end program sweep
