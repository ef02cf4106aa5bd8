#include "list.h"

#include <stdlib.h>

struct list *list_push(struct list *rest, int value) {
    struct list *list = malloc(sizeof *list);
    *list = (struct list){rest, value};
    return list;
}

void list_free(struct list *list) {
    while (list) {
        struct list *rest = list->rest;
        free(list);
        list = rest;
    }
}
