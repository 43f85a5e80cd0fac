// A program whose line table is written by hand: of line 20 of "made.c" the first row begins no
// statement, as compilers write it where they moved an instruction in front of one.
__asm__(
    ".text\n"
    ".globl of_statements\n"
    "of_statements:\n"
    ".Lbegin:\n"
    ".file 1 \"made.c\"\n"
    ".loc 1 10 1 is_stmt 1\n"
    "nop\n"
    ".loc 1 20 1 is_stmt 0\n"
    "nop\n"
    ".globl of_line_20\n"
    ".type of_line_20, %function\n"
    "of_line_20:\n"
    ".loc 1 20 9 is_stmt 1\n"
    "nop\n"
    ".loc 1 20 12 is_stmt 1\n"
    "nop\n"
    ".loc 1 30 1 is_stmt 1\n"
    "ret\n"
    ".Lend:\n"
    // A unit that has nothing but this table: its name, and where its code is.
    ".section .debug_abbrev,\"\",%progbits\n"
    ".Labbreviations:\n"
    ".uleb128 1, 0x11\n"  // DW_TAG_compile_unit
    ".byte 0\n"
    ".uleb128 0x03, 0x08, 0x10, 0x17, 0x11, 0x01, 0x12, 0x07, 0, 0\n"
    ".byte 0\n"
    ".section .debug_line,\"\",%progbits\n"
    ".Lline_table:\n"
    ".section .debug_info,\"\",%progbits\n"
    ".4byte .Lunit_end - .Lunit_begin\n"
    ".Lunit_begin:\n"
    ".2byte 4\n"
    ".4byte .Labbreviations\n"
    ".byte 8\n"
    ".uleb128 1\n"
    ".asciz \"made.c\"\n"
    ".4byte .Lline_table\n"
    ".8byte .Lbegin\n"
    ".8byte .Lend - .Lbegin\n"
    ".Lunit_end:\n"
    ".text\n");

void of_statements(void);

int main(void) {
    of_statements();
    return 0;
}
