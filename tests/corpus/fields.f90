! Fortran: SELECT CASE of all kinds, DO CONCURRENT, array syntax, WHERE, allocatables, module
! procedures, recursion, internal procedures, alternate exits, computed GOTO, OpenMP.
module shapes
    implicit none
    integer, parameter :: wp = kind(1d0)
    type field
        integer :: n = 0
        real(wp), allocatable :: values(:, :)
    contains
        procedure :: fill => fill_field
        procedure :: total => total_of_field
    end type
    interface norm
        module procedure norm_1, norm_2
    end interface
contains
    subroutine fill_field(this, n)
        class(field), intent(inout) :: this
        integer, intent(in) :: n
        integer :: i, j
        if (allocated(this%values)) deallocate (this%values)
        allocate (this%values(n, n))
        this%n = n
        do j = 1, n
            do i = 1, n
                this%values(i, j) = i * 2 + j
            end do
        end do
    end subroutine
    real(wp) function total_of_field(this) result(total)
        class(field), intent(in) :: this
        total = sum(this%values(2:, ::2))
    end function
    real(wp) function norm_1(v)
        real(wp), intent(in) :: v(:)
        norm_1 = sqrt(sum(v * v))
    end function
    real(wp) function norm_2(a)
        real(wp), intent(in) :: a(:, :)
        norm_2 = maxval(abs(a)) + sqrt(sum(a**2))
    end function
    recursive integer function ackermann(m, n) result(r)
        integer, intent(in) :: m, n
        if (m == 0) then
            r = n + 1
        else if (n == 0) then
            r = ackermann(m - 1, 1)
        else
            r = ackermann(m - 1, ackermann(m, n - 1))
        end if
    end function
end module

module choices
    implicit none
    integer :: seen = 0
contains
    integer function dense(k)
        integer, intent(in) :: k
        select case (k)
        case (1); dense = note(10)
        case (2); dense = note(11) * 3
        case (3); dense = note(12) - 4
        case (4); dense = note(13) + 8
        case (5); dense = note(14) / 2
        case (6); dense = note(15) * 7
        case (7); dense = note(16) - 5
        case default; dense = -1
        end select
    end function
    integer function ranges(k)
        integer, intent(in) :: k
        select case (k)
        case (:-10); ranges = note(1)
        case (-9:-1); ranges = note(2) + 1
        case (0, 4, 8); ranges = note(3)
        case (1:3); ranges = note(5) - 2
        case (5:7); ranges = note(6) * 2
        case (100:); ranges = note(7)
        case default; ranges = 0
        end select
    end function
    integer function letters(c)
        character, intent(in) :: c
        select case (c)
        case ('a', 'e', 'i', 'o', 'u'); letters = note(1)
        case ('b':'d'); letters = note(2)
        case ('x'); letters = note(3) * 2
        case ('y'); letters = note(4) - 1
        case ('z'); letters = note(5)
        case default; letters = 9
        end select
    end function
    integer function strings(s)
        character(*), intent(in) :: s
        select case (s)
        case ('north'); strings = note(1)
        case ('south'); strings = note(2)
        case ('east', 'west'); strings = note(3)
        case ('up':'us'); strings = note(4)
        case default; strings = 0
        end select
    end function
    integer function old_goto(k)
        integer, intent(in) :: k
        go to (10, 20, 30, 40, 20, 50), k
        old_goto = 0
        return
10      old_goto = note(1)
        return
20      old_goto = note(2)
        return
30      old_goto = note(3)
40      old_goto = note(4)
        return
50      old_goto = note(5)
    end function
    integer function note(k)
        integer, intent(in) :: k
        seen = seen + k
        note = seen
    end function
    subroutine exits(k, *, *)
        integer, intent(in) :: k
        if (k == 1) return 1
        if (k == 2) return 2
        if (k == 3) error stop 'three'
    end subroutine
end module

program fields
    use shapes
    use choices
    implicit none
    type(field) :: f
    real(wp), allocatable :: a(:, :), b(:, :), c(:, :)
    real(wp) :: v(50), w(50), total
    integer :: i, j, n, index(50)
    n = 30
    allocate (a(n, n), b(n, n), c(n, n))
    call f%fill(n)
    total = f%total()
    a = f%values
    b = transpose(a) + 1
    c = matmul(a, b)
    where (c > 500)
        c = 500
    elsewhere (c < 10)
        c = -c
    end where
    do concurrent(i=1:n, j=1:n, i /= j)
        a(i, j) = b(j, i) * 2
    end do
    forall (i=1:n) b(i, i) = i
    v = [(real(i, wp), i=1, 50)]
    index = [(51 - i, i=1, 50)]
    w = v(index) + cshift(v, 3)
    w(index) = v * 2
    w(1:50:3) = 0
    outer: do i = 1, 50
        do j = 1, 50
            if (v(i) * w(j) > 900) exit outer
            if (mod(j, 7) == 0) cycle outer
            total = total + w(j)
        end do
    end do outer
    !$omp parallel do reduction(+:total)
    do i = 1, n
        total = total + a(i, i)
    end do
    do i = 0, 8
        total = total + dense(i) + ranges(20 * i - 40) + old_goto(i) + letters(achar(95 + 3 * i))
    end do
    total = total + strings('east') + strings('usual') + ackermann(2, 3) + norm(v) + norm(c)
    call exits(2, *100, *200)
    print *, 'no exit'
100 print *, 'first exit'
200 print *, seen, inner(total) > 0, any(a > 3), count(b > 2), minloc(v), dot_product(v, w) > 0
contains
    real(wp) function inner(x)
        real(wp), intent(in) :: x
        inner = x + n
        do while (inner > 100)
            inner = inner / 2
        end do
    end function
end program
