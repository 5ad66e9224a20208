"""Machine code that answers the wall clock with an offset, for the vDSO of a process of x86_64.

Each function makes the system call itself and adds the offset to the wall clock; other clocks are
those of the kernel. The offset is the last word of the code, so that a clock moves again by a write
of eight bytes. SOURCE is the text of CODE; a test assembles SOURCE and compares.
"""

from typing import Final

SOURCE: Final = """\
.intel_syntax noprefix
# int clock_gettime(clockid_t clock, struct timespec *time)
clock_gettime:
    mov eax, 228            # the system call of that name; it changes rax, rcx and r11
    syscall
    test eax, eax
    jnz 2f                  # an error such as -EINVAL is the answer
    test edi, edi           # CLOCK_REALTIME
    jz 1f
    cmp edi, 5              # CLOCK_REALTIME_COARSE
    jne 2f
1:  mov rax, [rsi+8]        # nanoseconds of the second, and the offset
    add rax, [rip+skew]
    mov rcx, 1000000000
    cqo
    idiv rcx                # seconds in rax, nanoseconds in rdx
    test rdx, rdx
    jns 3f
    add rdx, rcx            # a time before the second: one second less
    dec rax
3:  add [rsi], rax
    mov [rsi+8], rdx
    xor eax, eax
2:  ret

# int gettimeofday(struct timeval *time, struct timezone *zone)
.balign 8
gettimeofday:
    mov eax, 96
    syscall
    test eax, eax
    jnz 2f
    test rdi, rdi           # the caller wants the zone only
    jz 2f
    imul rax, [rdi+8], 1000
    add rax, [rip+skew]
    mov rcx, 1000000000
    cqo
    idiv rcx
    test rdx, rdx
    jns 3f
    add rdx, rcx
    dec rax
3:  add [rdi], rax
    mov rax, rdx
    xor edx, edx
    mov ecx, 1000
    div rcx                 # microseconds
    mov [rdi+8], rax
    xor eax, eax
2:  ret

# time_t time(time_t *time)
.balign 8
time:
    push rdi
    sub rsp, 16             # a struct timespec
    mov rsi, rsp
    xor edi, edi
    call clock_gettime
    mov rax, [rsp]
    add rsp, 16
    pop rdi
    test rdi, rdi
    jz 1f
    mov [rdi], rax
1:  ret

.balign 8
skew: .quad 0               # nanoseconds
"""
CODE: Final = bytes.fromhex(
    "b8e40000000f0585c0753485ff740583ff05752b488b46084803059900000048c7c100ca9a3b4899"
    "48f7f94885d279064801ca48ffc84801064889560831c0c3b8600000000f0585c075414885ff743c"
    "48694708e80300004803055900000048c7c100ca9a3b489948f7f94885d279064801ca48ffc84801"
    "074889d031d2b9e803000048f7f14889470831c0c30f1f00574883ec104889e631ffe861ffffff48"
    "8b04244883c4105f4885ff7403488907c30f1f80000000000000000000000000"
)
ENTRIES: Final = {"__vdso_clock_gettime": 0x00, "__vdso_gettimeofday": 0x40, "__vdso_time": 0x90}
"""The beginning of each function in CODE, by the name of the vDSO's own function."""
OFFSET_AT: Final = 0xB8
"""The place of the offset in CODE: a signed word of eight bytes, in nanoseconds."""
OFFSET_SIZE: Final = 8
