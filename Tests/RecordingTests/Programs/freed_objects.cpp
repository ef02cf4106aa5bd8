// Frees or uses objects wrongly, as it is told.
#include <cstdlib>
#include <cstring>
#include <new>

struct First {
    ~First() {}
    long words[2];
};
struct Second {
    ~Second() {}
    long words[3];
};
struct Both : First, Second {
    long word;
};

struct Buffer {
    char *bytes = new char[1301];
    ~Buffer() {
        delete[] bytes;
    }
};

struct Shape {
    virtual ~Shape() {}
    virtual long area() {
        return 1;
    }
    long width = 1301;
};
struct Circle : Shape {
    long area() override {
        return radius;
    }
    long radius = 2;
};

__attribute__((noinline)) static void drop_base(Second *base) {
    delete base;
}

__attribute__((noinline)) static void take_copy(Buffer buffer) {
    buffer.bytes[0] = 1;
}

__attribute__((noinline)) static void drop_shape(Shape *shape) {
    delete shape;
}

__attribute__((noinline)) static long ask_shape(Shape *shape) {
    return shape->area();
}

int main(int, char **arguments) {
    const char *what = arguments[1];
    if (strcmp(what, "aligned") == 0) {
        operator delete(operator new(1301, std::align_val_t(256), std::nothrow));
    } else if (strcmp(what, "base") == 0) {
        drop_base(new Both);
    } else if (strcmp(what, "copy") == 0) {
        Buffer buffer;
        take_copy(buffer);
    } else if (strcmp(what, "shape") == 0) {
        Shape *shape = new Circle;
        drop_shape(shape);
        return ask_shape(shape) == 0;
    }
}
