/* Executes its arguments: linked statically, it is no process that can be recorded, until then. */
#include <unistd.h>

int main(int count, char **arguments) {
    if (count > 1)
        execv(arguments[1], arguments + 1);
    return 127;
}
