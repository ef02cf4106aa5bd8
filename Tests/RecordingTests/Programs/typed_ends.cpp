// Makes a few objects, none of which is looked at before the end, and ends in the way that it is
// told.
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <unistd.h>

struct Shape {
    virtual ~Shape() {}
};
struct Circle : Shape {
    double r[3];
};

static Shape *volatile kept[10];

// What a block is to become, its stack does not tell.
__attribute__((noinline)) static void *take(size_t size) {
    return operator new(size);
}

static void leave(int) {
    _exit(0);
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    signal(SIGUSR1, leave);
    for (auto &place : kept)
        place = new (take(sizeof(Circle))) Circle;
    if (strcmp(way, "_exit") == 0)
        _exit(0);
    if (strcmp(way, "handler") == 0)
        raise(SIGUSR1);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "signal") == 0)
        raise(SIGTERM);
    return 0;
}
