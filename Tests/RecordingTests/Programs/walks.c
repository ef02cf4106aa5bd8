/* Walks its own stack with libunwind, which the recorder uses as well, and changes registers of
 * frames: once of what the context holds, once of what a frame has saved in memory. */
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>

static void change(unw_cursor_t *cursor, int number, unw_word_t value) {
    unw_word_t held = 0;
    int set = unw_set_reg(cursor, number, value);
    int got = unw_get_reg(cursor, number, &held);
    printf("set %d, get %d, %d\n", set, got, (int)held);
}

static void walk(int depth) {
    free(malloc(64001));
    if (depth > 0) {
        walk(depth - 1);
        return;
    }
    unw_context_t context;
    unw_cursor_t cursor;
    unw_getcontext(&context);
    unw_init_local(&cursor, &context);
    change(&cursor, UNW_X86_64_RBX, 64002);
    int frames = 1;
    while (unw_step(&cursor) > 0)
        frames++;
    printf("%d frames\n", frames);

    /* The frame pointer of a caller is what its callee has saved on the stack. */
    unw_init_local(&cursor, &context);
    unw_step(&cursor);
    unw_word_t pointer = 0;
    unw_get_reg(&cursor, UNW_X86_64_RBP, &pointer);
    change(&cursor, UNW_X86_64_RBP, 64003);
    unw_set_reg(&cursor, UNW_X86_64_RBP, pointer);
}

int main(void) {
    walk(20);
    return 0;
}
