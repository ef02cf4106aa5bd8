/* Leaks one structure of a type that only debug information knows. */
#include "debuginfod_node.h"

int main(void) {
    keep_node(0);
    keep_node(0);
    return 0;
}
