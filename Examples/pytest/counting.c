/* Counters for Python, by ctypes. */
#include <stdlib.h>

struct counter {
    long value;
};

struct counter *counter_new(void) {
    return calloc(1, sizeof(struct counter));
}

long counter_add(struct counter *counter, long number) {
    return counter->value += number;
}

void counter_free(struct counter *counter) {
    free(counter);
}
