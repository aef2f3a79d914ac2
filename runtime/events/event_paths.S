/* Where rewritten code goes at an event (core/probe_abi.h), when a loop or a routine is entered or
   left.  Each path comes back to %gs:PM_CB_RETURN with every register and flag as it was, and does
   not touch the program's stack. */
#include "runtime/control_block.h"

        .text
        .globl  pm_event_ignore
        .hidden pm_event_ignore
        .type   pm_event_ignore, @function
        .p2align 4
pm_event_ignore:
        .cfi_startproc
        .cfi_undefined rip
        jmp     *%gs:PM_OFFSET_RETURN
        .cfi_endproc
        .size   pm_event_ignore, .-pm_event_ignore

/* Appends a record, so that the event keeps its place among the accesses. */
        .globl  pm_event_record
        .hidden pm_event_record
        .hidden pm_slow_path
        .type   pm_event_record, @function
        .p2align 4
pm_event_record:
        .cfi_startproc
        .cfi_undefined rip
        movq    %rax, %gs:PM_OFFSET_EVENT_RAX
        movq    %rcx, %gs:PM_OFFSET_EVENT_RCX
        movq    %gs:PM_OFFSET_NEXT, %rcx
        movl    %gs:PM_OFFSET_EVENT, %eax
        movl    %eax, (%rcx)
        movl    $0x80000000, 4(%rcx)    /* the upper half of PM_RECORD_IS_EVENT */
        movq    %rsp, 8(%rcx)
        leaq    16(%rcx), %rcx
        movq    %rcx, %gs:PM_OFFSET_NEXT
        lahf
        seto    %al
        cmpl    $0, %gs:PM_OFFSET_EVENT /* PM_EVENT_NOW is its sign */
        js      1f
        cmpq    %gs:PM_OFFSET_LIMIT, %rcx
        ja      1f
        addb    $127, %al               /* 1 + 127 overflows */
        sahf
        movq    %gs:PM_OFFSET_EVENT_RCX, %rcx
        movq    %gs:PM_OFFSET_EVENT_RAX, %rax
        jmp     *%gs:PM_OFFSET_RETURN

1:      addb    $127, %al
        sahf
        movq    %gs:PM_OFFSET_EVENT_RCX, %rcx
        movq    %gs:PM_OFFSET_EVENT_RAX, %rax
        jmp     pm_slow_path
        .cfi_endproc
        .size   pm_event_record, .-pm_event_record
        .section .note.GNU-stack, "", @progbits
