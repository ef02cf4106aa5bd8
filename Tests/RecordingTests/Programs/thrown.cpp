// Exceptions that are kept, and one that is not.
#include <exception>
#include <stdexcept>

namespace app {
struct Failure {
    long code;
    char text[88];
};
} // namespace app

static auto kept = new std::exception_ptr[2];

int main() {
    try {
        throw app::Failure{7, ""};
    } catch (...) {
        kept[0] = std::current_exception();
    }
    try {
        throw std::out_of_range("far");
    } catch (...) {
        kept[1] = std::current_exception();
    }
    try {
        throw 42;
    } catch (int) {
    }
}
