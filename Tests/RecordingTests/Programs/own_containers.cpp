// Containers of the program's own, which ask the standard library's allocator for what they hold.
#include <memory>
#include <new>

struct Shape {
    virtual ~Shape() = default;
    long sides = 0;
};

struct Plain {
    long values[5];
};

template <class T> class Array {
    std::allocator<T> allocator;
    T *elements = nullptr;

  public:
    void grow(std::size_t count) {
        elements = allocator.allocate(count);
        for (std::size_t index = 0; index < count; ++index)
            new (elements + index) T;
    }
};

template <class T> class Stack {
    struct Node {
        T value;
        Node *next;
    };
    std::allocator<Node> allocator;
    Node *top = nullptr;

  public:
    void push() {
        top = new (allocator.allocate(1)) Node{T{}, top};
    }
};

template <class T> class Bytes {
    std::allocator<char> allocator;
    char *room = nullptr;

  public:
    void grow(std::size_t count) {
        room = allocator.allocate(count * sizeof(T));
    }
};

static Array<Plain> plain;
static Array<Shape> shapes;
static Stack<Plain> stack;
static Stack<Shape> shape_stack;
static Bytes<Plain> bytes;

int main() {
    plain.grow(7);
    shapes.grow(3);
    for (int count = 0; count < 4; ++count)
        stack.push();
    shape_stack.push();
    bytes.grow(20);
    return 0;
}
