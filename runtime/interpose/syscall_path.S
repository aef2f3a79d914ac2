/* syscall (number, …), as the C library has it, but for the calls that the runtime must know of:
   those go to pm_direct_call (syscall.c).  Nothing is put on the stack on the other way, because
   the child of vfork and of clone may come back here first. */
#include <sys/syscall.h>

        .text
        .globl  syscall
        .type   syscall, @function
        .hidden pm_direct_call
        .hidden pm_direct_call_failed
        .p2align 4
syscall:
        .cfi_startproc
        endbr64
        cmpq    $SYS_rt_sigaction, %rdi
        je      pm_direct_call
        cmpq    $SYS_rt_sigprocmask, %rdi
        je      pm_direct_call
        cmpq    $SYS_sigaltstack, %rdi
        je      pm_direct_call
        cmpq    $SYS_fork, %rdi
        je      pm_direct_call
        cmpq    $SYS_execve, %rdi
        je      pm_direct_call
        cmpq    $SYS_execveat, %rdi
        je      pm_direct_call
        cmpq    $SYS_exit, %rdi
        je      pm_direct_call
        cmpq    $SYS_exit_group, %rdi
        je      pm_direct_call
        cmpq    $SYS_clone, %rdi
        jne     1f
        testq   $0x100, %rsi            /* CLONE_VM */
        jz      pm_direct_call
1:      movq    %rdi, %rax
        movq    %rsi, %rdi
        movq    %rdx, %rsi
        movq    %rcx, %rdx
        movq    %r8, %r10
        movq    %r9, %r8
        movq    8(%rsp), %r9
        syscall
        cmpq    $-4095, %rax
        jae     2f
        ret
2:      movq    %rax, %rdi
        jmp     pm_direct_call_failed
        .cfi_endproc
        .size   syscall, .-syscall
        .section .note.GNU-stack, "", @progbits
