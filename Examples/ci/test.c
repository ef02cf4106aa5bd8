/* The tests of list.c. Compiled with -DFORGOTTEN=N, they forget to free N lists. */
#include "list.h"

#include <assert.h>
#include <stddef.h>

#ifndef FORGOTTEN
#    define FORGOTTEN 0
#endif

static void pushed_numbers_come_first(void) {
    struct list *list = list_push(list_push(NULL, 1), 2);
    assert(list->value == 2 && list->rest->value == 1);
    list_free(list);
}

static void a_list_keeps_its_number(int number) {
    struct list *list = list_push(NULL, number);
    assert(list->value == number);
    if (number >= FORGOTTEN)
        list_free(list);
}

int main(void) {
    for (int number = 0; number < 8; number++)
        a_list_keeps_its_number(number);
    pushed_numbers_come_first();
    return 0;
}
