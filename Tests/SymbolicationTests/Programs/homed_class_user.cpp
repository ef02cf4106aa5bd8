// Makes an object of a class that is derived from one of the other unit.
#include "homed_class.h"

namespace app {

struct Derived : Homed {
    ~Derived() override;
    Derived *twin = nullptr;
};

Derived::~Derived() {}

} // namespace app

int main() {
    app::Homed *homed = new app::Homed;
    return (new app::Derived)->next != homed->next;
}
