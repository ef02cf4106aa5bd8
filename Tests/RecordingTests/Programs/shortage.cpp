// Allocates with operator new where there is no memory.
#include <cstdio>
#include <new>
#include <unistd.h>

static int calls;

static void give_something_back() {
    if (++calls == 3)
        std::set_new_handler(nullptr);
}

static char allocate() {
    try {
        delete new long;
        return '+';
    } catch (const std::bad_alloc &) {
        return '-';
    }
}

static char allocate_nothrow() {
    long *block = new (std::nothrow) long;
    char result = block ? '+' : '-';
    delete block;
    return result;
}

// usage: shortage handler?
int main(int argc, char **) {
    if (argc > 1)
        std::set_new_handler(give_something_back);
    char results[] = {allocate(),         allocate(), allocate_nothrow(),
                      allocate_nothrow(), allocate(), '\n'};
    write(1, results, sizeof results);
    std::printf("%d\n", calls);
    return 0;
}
