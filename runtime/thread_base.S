/* The first frame of a thread of the program: calls pm_run_thread (thread).  Its personality routine
   (nonlocal_exits/exceptions.c) is called when pthread_exit or cancellation has unwound the thread
   down to here. */
        .text
        .globl  pm_thread_base
        .hidden pm_thread_base
        .hidden pm_run_thread
        .type   pm_thread_base, @function
        .p2align 4
pm_thread_base:
        .cfi_startproc
        .cfi_personality 0x9b, personality
        endbr64
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    pm_run_thread
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   pm_thread_base, .-pm_thread_base

        .section .data.rel.ro, "aw"
        .hidden pm_thread_personality
        .p2align 3
personality:
        .quad   pm_thread_personality
        .section .note.GNU-stack, "", @progbits
