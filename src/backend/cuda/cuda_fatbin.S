/* cuda_fatbin.S - the bytes of the fatbin (MX_CUDA_FATBIN, a path), for ELF and for PE. */
#if defined(_WIN32)
    .section .rdata,"dr"
#else
    .section .rodata,"a",%progbits
#endif
    .balign 64
    .globl mx_cuda_fatbin
mx_cuda_fatbin:
    .incbin MX_CUDA_FATBIN
    .globl mx_cuda_fatbin_end
mx_cuda_fatbin_end:
    .byte 0
#if !defined(_WIN32)
    .section .note.GNU-stack,"",%progbits
#endif
