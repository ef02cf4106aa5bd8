// A program with the table of functions that Go's linker writes, of two functions: main.load, whose
// first 16 bytes are of load.go:7 and the others of cache.go:42, and main.main, without lines.
// -DMAGIC=0xfffffff0 makes it that of Go 1.18, 0xfffffff1 that of Go 1.20; -DBASE=0 one that only
// the runtime knows the code of.
#include <stdio.h>
#include <stdlib.h>

#ifndef MAGIC
#    define MAGIC 0xfffffff1
#endif
#ifndef BASE
#    define BASE go_text
#endif
#define TEXT(x) #x
#define VALUE(x) TEXT(x)

__asm__(".text\n.balign 32\n.globl go_text, go_main, go_end\n"
        "go_text: .skip 32, 0x90\n"
        "go_main: .skip 16, 0x90\n"
        "go_end: nop\n"
        ".section .go.buildinfo, \"a\"\n.byte 1\n"
        ".section .gopclntab, \"aw\"\n.balign 8\n.quad 0\n"
        "0: .long " VALUE(
            MAGIC) "\n.byte 0, 0, 1, 8\n"
                   ".quad 2, 2, " VALUE(
                       BASE) "\n"
                             ".quad 1f - 0b, 2f - 0b, 3f - 0b, 4f - 0b, 5f - 0b\n"
                             // Names, units, files, values.
                             "1: .asciz \"\"\n10: .asciz \"main.load\"\n11: .asciz "
                             "\"main.main\"\n.balign 4\n"
                             "2: .long 30f - 3f, 31f - 3f\n"
                             "3: 30: .asciz \"/src/load.go\"\n31: .asciz \"/src/cache.go\"\n"
                             // -1 + 1 = 0, 16 bytes; + 1, 16 bytes; end. -1 + 8 = 7, then + 35.
                             "4: .byte 0\n40: .byte 2, 16, 2, 16, 0\n41: .byte 16, 16, 70, 16, "
                             "0\n.balign 8\n"
                             "5: .long 0, 50f - 5b, go_main - go_text, 51f - 5b, go_end - go_text\n"
                             "50: .long 0, 10b - 1b, 0, 0, 0, 40b - 4b, 41b - 4b, 0, 0, 0\n"
                             "51: .long go_main - go_text, 11b - 1b, 0, 0, 0, 0, 0, 0, 0, 0\n"
                             ".text\n");

int main(void) {
    puts("done");
    return 0;
}
