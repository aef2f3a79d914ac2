/* Prints the names of its callers as `backtrace`, the unwinder and `dladdr` give them, from plain
   routines and from a handler of signals; and has routines that read their return addresses. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unwind.h>

/* Not of the frames above main, which are the C library's, nor of addresses. */
static int print_name(const char *name) {
    printf("  %s\n", name);
    return strcmp(name, "main") == 0;
}

static _Unwind_Reason_Code print_frame(struct _Unwind_Context *context, void *ends) {
    Dl_info info;
    int known = dladdr((void *)_Unwind_GetIP(context), &info) && info.dli_sname;
    if (!*(int *)ends && known)
        *(int *)ends = print_name(info.dli_sname);
    return _URC_NO_REASON;
}

__attribute__((noinline)) void shows(void) {
    void *addresses[64];
    Dl_info info;
    int n = backtrace(addresses, 64), ends = 0;
    puts("backtrace");
    for (int i = 0; i < n && !ends; i++)
        if (dladdr(addresses[i], &info) && info.dli_sname)
            ends = print_name(info.dli_sname);
    puts("unwinder");
    ends = 0;
    _Unwind_Backtrace(print_frame, &ends);
    n = backtrace(addresses, 2);
    printf("the first %d\n", n);
    if (dladdr(__builtin_return_address(0), &info))
        printf("called by %s\n", info.dli_sname);
}

__attribute__((noinline)) void descends(int n) {
    if (n)
        descends(n - 1);
    else
        shows();
    puts("back");
}

static void handle(int number) {
    printf("handler of %d\n", number);
    shows();
}

__attribute__((noinline)) void raises(void) {
    raise(SIGUSR1);
    puts("raised");
}

/* The program counter by a call of the next instruction, and by a routine that gives back where it
   was called: how far from where they are these are. */
uint64_t next_instruction(void);
uint64_t return_address(void);
__asm__(".text\n"
        ".globl next_instruction\n"
        ".type next_instruction, @function\n"
        "next_instruction: .cfi_startproc\n"
        "  call 1f\n"
        "1: .cfi_adjust_cfa_offset 8\n"
        "  popq %rax\n"
        "  .cfi_adjust_cfa_offset -8\n"
        "  leaq next_instruction(%rip), %rdx\n"
        "  subq %rdx, %rax\n"
        "  ret\n"
        "  .cfi_endproc\n"
        ".size next_instruction, . - next_instruction\n"
        ".type gives_caller, @function\n"
        "gives_caller: .cfi_startproc\n"
        "  movq (%rsp), %rax\n"
        "  ret\n"
        "  .cfi_endproc\n"
        ".size gives_caller, . - gives_caller\n"
        ".globl return_address\n"
        ".type return_address, @function\n"
        "return_address: .cfi_startproc\n"
        "  subq $8, %rsp\n"
        "  .cfi_adjust_cfa_offset 8\n"
        "  call gives_caller\n"
        "  leaq return_address(%rip), %rdx\n"
        "  subq %rdx, %rax\n"
        "  addq $8, %rsp\n"
        "  .cfi_adjust_cfa_offset -8\n"
        "  ret\n"
        "  .cfi_endproc\n"
        ".size return_address, . - return_address\n");

int main(void) {
    signal(SIGUSR1, handle);
    descends(3);
    raises();
    printf("%d %d\n", (int)next_instruction(), (int)return_address());
    return 0;
}
