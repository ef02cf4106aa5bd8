/* Objects that are made of others within one expression, of sizes that nothing else has. */
#include <cstdlib>
#include <memory>
#include <utility>

struct Inner {
    char bytes[1301];
};
struct Other {
    ~Other() {}
    char bytes[1303];
};
struct Outer {
    Outer(Inner *inner, Other *others) : parts(inner, others) {}
    std::pair<Inner *, Other *> parts;
    char bytes[1500];
};

void *volatile kept[3];

int main() {
    kept[0] = new Outer(new Inner, new Other[2]);
    kept[1] = new std::shared_ptr<Other>(new Other);
    kept[2] = new std::unique_ptr<Inner>(new Inner);
    return 0;
}
