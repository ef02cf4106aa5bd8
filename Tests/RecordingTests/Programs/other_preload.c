// Another library that is preloaded beside the recorder.
#include <unistd.h>

__attribute__((constructor)) static void loaded(void) {
    write(1, "other loaded\n", 13);
}
