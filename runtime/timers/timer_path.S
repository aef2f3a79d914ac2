/* Where events of rewritten code go when loops and routines are timed (timers.c): closes the slice
   of time of the scope that was running and opens that of the next, and comes back to
   %gs:PM_CB_RETURN with every register and flag as it was, without touching the program's stack.

   Only what is usual is done here: the thread was not interrupted since its last event, and the
   stack of open scopes shows nothing that is gone.  Everything else is left to pm_timer_event.
   It costs 20 to 35 ns, most of it rdtsc.  That is not ordered with the instructions around it,
   which may shift a border by some ten nanoseconds, in both directions alike; scopes that are timed
   take a hundred times as long. */
#include "runtime/control_block.h"
#include "runtime/timers/timers.h"

#define NOW %rax
#define SCOPE %rdi

        .macro  restore
        movq    %gs:PM_OFFSET_TIMER_SAVED+40, %rax
        addb    $127, %al               /* 1 + 127 overflows */
        sahf
        movq    %gs:PM_OFFSET_TIMER_SAVED+32, %rdi
        movq    %gs:PM_OFFSET_TIMER_SAVED+24, %rsi
        movq    %gs:PM_OFFSET_TIMER_SAVED+16, %rdx
        movq    %gs:PM_OFFSET_TIMER_SAVED+8, %rcx
        movq    %gs:PM_OFFSET_TIMER_SAVED, %rax
        .endm

        .text
        .globl  pm_timer_path
        .hidden pm_timer_path
        .hidden pm_timer_slow_path
        .type   pm_timer_path, @function
        .p2align 5
pm_timer_path:
        .cfi_startproc
        .cfi_undefined rip
        movq    %rax, %gs:PM_OFFSET_TIMER_SAVED
        movq    %rcx, %gs:PM_OFFSET_TIMER_SAVED+8
        movq    %rdx, %gs:PM_OFFSET_TIMER_SAVED+16
        movq    %rsi, %gs:PM_OFFSET_TIMER_SAVED+24
        movq    %rdi, %gs:PM_OFFSET_TIMER_SAVED+32
        lahf
        seto    %al
        movq    %rax, %gs:PM_OFFSET_TIMER_SAVED+40
        rdtsc
        shlq    $32, %rdx
        orq     %rdx, NOW
        movq    %gs:PM_OFFSET_TIMER_WATCH, %rcx
        movq    %fs:(%rcx), %rcx
        cmpq    %gs:PM_OFFSET_TIMER_ARMED, %rcx
        jne     .Lslow                  /* interrupted, or the first event of the thread */
        movl    %gs:PM_OFFSET_EVENT, %edi
        movq    %gs:PM_OFFSET_TIMER_OPEN, %rdx
        movl    (%rdx), %esi            /* how many are open */
        cmpl    $PM_TIMER_MOST_OPEN, %esi
        jae     .Lslow
        movl    %edi, %ecx
        shrl    $2, %edi
        cmpl    $PM_TIMER_MOST_SCOPES, %edi
        jae     .Lslow                  /* also where the event must be seen now */
        shlq    $4, %rsi
        jz      .Lnone_open
        addq    %rdx, %rsi              /* -8: scope, 0: stack pointer of the innermost; then the next */
        andl    $3, %ecx
        jnz     .Lleave

        /* An entry.  In the frame of the innermost scope it can only be a loop directly inside. */
        cmpq    %rsp, (%rsi)
        ja      .Lenter
        jb      .Lslow
        leaq    1(SCOPE), %rcx
        shlq    $PM_SLOT_SHIFT, %rcx
        addq    %gs:PM_OFFSET_TIMER_SLOTS, %rcx
        movl    PM_SLOT_PARENT(%rcx), %ecx
        cmpl    -8(%rsi), %ecx
        jne     .Lslow
.Lenter:
        movl    %edi, 8(%rsi)
        movq    %rsp, 16(%rsi)
        incl    (%rdx)
        movl    -8(%rsi), %ecx
        incl    %ecx
.Lentered:
        incl    %edi
        shlq    $PM_SLOT_SHIFT, SCOPE
        addq    %gs:PM_OFFSET_TIMER_SLOTS, SCOPE
        incq    PM_SLOT_ENTRIES(SCOPE)

        /* The slice of the slot %rcx ends. */
.Lclose:
        shlq    $PM_SLOT_SHIFT, %rcx
        addq    %gs:PM_OFFSET_TIMER_SLOTS, %rcx
        movq    %gs:PM_OFFSET_TIMER_TIMES, %rdx
        movq    NOW, %rsi
        subq    PM_TIMES_LAST(%rdx), %rsi
        movq    NOW, PM_TIMES_LAST(%rdx)
        addq    %rsi, PM_SLOT_TICKS(%rcx)
        incq    PM_SLOT_SLICES(%rcx)

        restore
        jmp     *%gs:PM_OFFSET_RETURN

.Lnone_open:
        andl    $3, %ecx
        jnz     .Lslow
        movl    %edi, 8(%rdx)
        movq    %rsp, 16(%rdx)
        incl    (%rdx)
        movq    %gs:PM_OFFSET_TIMER_EMPTY, %rcx
        jmp     .Lentered

.Lleave:
        cmpl    $1, %ecx
        jne     .Lslow
        cmpl    -8(%rsi), %edi
        jne     .Lslow
        cmpq    %rsp, (%rsi)
        jne     .Lslow
        decl    (%rdx)
        leal    1(%rdi), %ecx
        jmp     .Lclose

.Lslow:
        restore
        jmp     pm_timer_slow_path
        .cfi_endproc
        .size   pm_timer_path, .-pm_timer_path

/* void pm_timer_probe_loop (uint64_t count, uint32_t event): the probes of a program in a loop. */
        .globl  pm_timer_probe_loop
        .hidden pm_timer_probe_loop
        .type   pm_timer_probe_loop, @function
        .p2align 5
pm_timer_probe_loop:
        .cfi_startproc
1:      movl    %esi, %gs:PM_OFFSET_EVENT
        movq    %rax, %gs:24            /* PM_CB_SPILL */
        leaq    2f(%rip), %rax
        movq    %rax, %gs:PM_OFFSET_RETURN
        movq    %gs:24, %rax
        jmp     *%gs:PM_OFFSET_EVENT_PATH
2:      leal    1(%rsi), %edx           /* PM_EVENT_LEAVE */
        movl    %edx, %gs:PM_OFFSET_EVENT
        movq    %rax, %gs:24
        leaq    3f(%rip), %rax
        movq    %rax, %gs:PM_OFFSET_RETURN
        movq    %gs:24, %rax
        jmp     *%gs:PM_OFFSET_EVENT_PATH
3:      decq    %rdi
        jnz     1b
        ret
        .cfi_endproc
        .size   pm_timer_probe_loop, .-pm_timer_probe_loop

/* A restartable sequence that nothing ever executes.  While a thread's rseq_cs points to it, the
   kernel sets that to zero as soon as it interrupts the thread (timers.c). */
        .p2align 4
.Lsequence:
        ud2
        .byte   0x0f, 0xb9, 0x3d        /* ud1, with the signature that the kernel wants: */
        .long   0x53053053
.Labort:
        ud2
        .section .data.rel.ro.local, "aw", @progbits
        .globl  pm_timer_sequence
        .hidden pm_timer_sequence
        .type   pm_timer_sequence, @object
        .p2align 5
pm_timer_sequence:
        .long   0, 0                    /* version, flags */
        .quad   .Lsequence, 2, .Labort
        .size   pm_timer_sequence, .-pm_timer_sequence
        .section .note.GNU-stack, "", @progbits
