// Makes an object of a class of the other unit.
#include "homed_class.h"

int main() {
    return (new app::Homed)->next != nullptr;
}
