/* Blocks whose first word is that of an object which they begin with. */
#include <any>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

struct Shape {
    virtual ~Shape() {}
    long area = 1;
};
struct Circle : Shape {
    long radius = 2, color = 3;
};
struct Plain {
    virtual long value() {
        return weight;
    }
    long weight = 4;
};

struct Drawing {
    Circle circle;
    long layers[3];
};
struct Page : Drawing {
    long number;
};
struct Padded {
    Plain plain;
    long last;
};
struct Buffer {
    virtual ~Buffer() {}
    static void *operator new(size_t size, int room) {
        return malloc(size + room);
    }
    static void operator delete(void *pointer) {
        free(pointer);
    }
};

void *volatile kept[8];
auto &circles = *new std::vector<Circle>(5);
auto &shape = *new std::any(Circle());

int main() {
    kept[0] = new Drawing();
    kept[1] = std::make_unique<Page>().release();
    kept[2] = new Padded();
    kept[3] = new Plain[4];
    kept[4] = new (40) Buffer;
    kept[5] = new Circle();
    return 0;
}
