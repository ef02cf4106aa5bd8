/* An object whose constructor, in the library, allocates a block more. */
#include <fstream>

std::ifstream *stream;

int main() {
    stream = new std::ifstream("/dev/null");
    return 0;
}
