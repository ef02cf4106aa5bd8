/* 500 leaks, each from a function of its own. */
#include <stdlib.h>

static void *volatile held;

/* clang-format off */
#define TEN(use, n) \
    use(n##0) use(n##1) use(n##2) use(n##3) use(n##4) \
    use(n##5) use(n##6) use(n##7) use(n##8) use(n##9)
#define HUNDRED(use, n) \
    TEN(use, n##0) TEN(use, n##1) TEN(use, n##2) TEN(use, n##3) TEN(use, n##4) \
    TEN(use, n##5) TEN(use, n##6) TEN(use, n##7) TEN(use, n##8) TEN(use, n##9)
#define ALL(use) \
    HUNDRED(use, 1) HUNDRED(use, 2) HUNDRED(use, 3) HUNDRED(use, 4) HUNDRED(use, 5)
/* clang-format on */

#define DEFINE(number)                                                                             \
    __attribute__((noinline)) static void leak_##number(void) {                                    \
        held = malloc(number);                                                                     \
    }
#define CALL(number) leak_##number();

ALL(DEFINE)

int main(void) {
    ALL(CALL)
    held = NULL;
    return 0;
}
