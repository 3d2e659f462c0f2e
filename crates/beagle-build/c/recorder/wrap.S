/* One function of the C library: its arguments go to a hook first, then the function itself gets them untouched.
 * NAME is the function, HOOK what is called, WHICH the argument that matters to it. */

#define JOIN(a, b) a##b
#define WITH(a, b) JOIN(a, b)
#define WRAP WITH(__wrap_, NAME)
#define REAL WITH(__real_, NAME)
#define CALLED WITH(__beagle_recorder_, HOOK)

    .text
    .globl WRAP
    .hidden WRAP
    .type WRAP, @function
WRAP:
    .cfi_startproc
    endbr64
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    mov %rsp, %rbp
    .cfi_def_cfa_register %rbp
    sub $192, %rsp
    mov %rdi, 0(%rsp)
    mov %rsi, 8(%rsp)
    mov %rdx, 16(%rsp)
    mov %rcx, 24(%rsp)
    mov %r8, 32(%rsp)
    mov %r9, 40(%rsp)
    mov %rax, 48(%rsp)
    movaps %xmm0, 64(%rsp)
    movaps %xmm1, 80(%rsp)
    movaps %xmm2, 96(%rsp)
    movaps %xmm3, 112(%rsp)
    movaps %xmm4, 128(%rsp)
    movaps %xmm5, 144(%rsp)
    movaps %xmm6, 160(%rsp)
    movaps %xmm7, 176(%rsp)
    mov %rsp, %rdi
    mov $WHICH, %esi
    call CALLED@PLT
    mov 0(%rsp), %rdi
    mov 8(%rsp), %rsi
    mov 16(%rsp), %rdx
    mov 24(%rsp), %rcx
    mov 32(%rsp), %r8
    mov 40(%rsp), %r9
    mov 48(%rsp), %rax
    movaps 64(%rsp), %xmm0
    movaps 80(%rsp), %xmm1
    movaps 96(%rsp), %xmm2
    movaps 112(%rsp), %xmm3
    movaps 128(%rsp), %xmm4
    movaps 144(%rsp), %xmm5
    movaps 160(%rsp), %xmm6
    movaps 176(%rsp), %xmm7
    leave
    .cfi_def_cfa %rsp, 8
    jmp *REAL@GOTPCREL(%rip)
    .cfi_endproc
    .size WRAP, . - WRAP
    .section .note.GNU-stack, "", @progbits
