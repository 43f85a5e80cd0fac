# llvm-mc-19 -triple=bpfel -mcpu=v4 -filetype=obj object.s -o object.o
        .section "tracepoint/sched/sched_switch","ax",@progbits
        .globl on_switch
        .type on_switch,@function
on_switch:
        r1 = counts ll
        r2 = r10
        r2 += -4
        call 1
        if r0 == 0 goto .Lout
        call helper
.Lout:
        r0 = 0
        exit
        .size on_switch, .-on_switch
        .globl on_other
        .type on_other,@function
on_other:
        r1 = text ll
        r0 = 0
        exit
        .section ".text","ax",@progbits
        .globl helper
        .type helper,@function
helper:
        r0 = 7
        exit
        .section ".maps","aw",@progbits
        .globl counts
        .type counts,@object
counts:
        .quad 0
        .size counts, 8
        .section ".rodata","a",@progbits
text:
        .ascii "abc"
