! Markers for user code in Fortran: measure only a part of a run.
!
!   use pmodel
!   call pmodel_stop ();  …set-up, not measured…  call pmodel_start ()
!
! Compile this file with the program: it needs no library. In a plain build the markers do nothing, in an
! instrumented copy they switch measuring off and on, for all threads, as those of pmodel.h do.
module pmodel
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: pmodel_start, pmodel_stop

  abstract interface
    subroutine runtime_action () bind (C)
    end subroutine runtime_action
  end interface

  interface
    function find_symbol (handle, name) bind (C, name='dlsym') result (address)
      import :: c_ptr, c_funptr, c_char
      type (c_ptr), value :: handle
      character (kind=c_char), intent (in) :: name(*)
      type (c_funptr) :: address
    end function find_symbol
  end interface

contains

  ! The runtime comes into the process with an instrumented copy only.
  subroutine call_runtime (name)
    character (len=*, kind=c_char), intent (in) :: name
    procedure (runtime_action), pointer :: action
    type (c_funptr) :: address

    address = find_symbol (c_null_ptr, name // c_null_char)
    if (.not. c_associated (address)) return
    call c_f_procpointer (address, action)
    call action ()
  end subroutine call_runtime

  subroutine pmodel_start ()
    call call_runtime ('pmodel_runtime_start')
  end subroutine pmodel_start

  subroutine pmodel_stop ()
    call call_runtime ('pmodel_runtime_stop')
  end subroutine pmodel_stop

end module pmodel
