// Leaks a block of 31004 bytes in a function whose whole name has more than its short one.
#include <vector>

template <typename Element> void forget(const std::vector<Element> &elements) {
    Element *block = new Element[31004 / sizeof(Element)];
    block[0] = elements[0];
}

int main() {
    std::vector<int> elements(1);
    forget(elements);
    elements = std::vector<int>(1); // Overwrites what of the block's address is left behind.
    return 0;
}
