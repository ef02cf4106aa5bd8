/* Leaks what it tells LeakSanitizer to say nothing of; with an argument, something else as well. */
#include <stdlib.h>
#include <string.h>

const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void) {
    return "leak:load_plugins\nleak:unload_plugins\n";
}

static void leak(size_t size) {
    char *volatile block = malloc(size);
    if (block)
        memset(block, 1, size);
    block = NULL;
}

static void load_plugins(void) {
    leak(448);
}

static void read_options(void) {
    leak(77);
}

int main(int argc, char **argv) {
    (void)argv;
    load_plugins();
    if (argc > 1)
        read_options();
    return 0;
}
