/* A list of numbers. */
struct list {
    struct list *rest;
    int value;
};

/* The list with one more number in front; the caller owns it. */
struct list *list_push(struct list *rest, int value);

/* Gives all of a list back. */
void list_free(struct list *list);
