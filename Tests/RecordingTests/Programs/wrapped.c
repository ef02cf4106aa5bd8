// Allocates and frees by functions of its own, and leaks ("leak"), frees twice ("two", "one") or
// writes past the end ("past").
#include <stdlib.h>
#include <string.h>

static void *my_malloc(size_t size) {
    void *block = malloc(size);
    if (!block)
        abort();
    return block;
}

static void my_free(void *block) {
    if (block)
        free(block);
}

static char *load(size_t size) {
    return my_malloc(size);
}

static char *store(size_t size) {
    return my_malloc(size);
}

static void consume(char *text) {
    my_free(text);
}

static void clean_up(char *text) {
    my_free(text);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    char *text = load(46011);
    if (strcmp(what, "leak") == 0)
        return *store(46012) = *text = 0;
    if (strcmp(what, "past") == 0)
        text[46011] = 1;
    consume(text);
    if (strcmp(what, "one") == 0)
        consume(text);
    if (strcmp(what, "two") == 0)
        clean_up(text);
    return 0;
}
