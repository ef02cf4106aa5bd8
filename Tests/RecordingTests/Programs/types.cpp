// Objects of known classes in known numbers.
#include <memory>
#include <string>
#include <vector>

namespace geo {
struct Shape {
    virtual ~Shape() {}
    virtual double area() const = 0;
};
struct Circle : Shape {
    double radius;
    explicit Circle(double r) : radius(r) {}
    double area() const override {
        return 3 * radius * radius;
    }
};
struct Square : Shape {
    double side, other;
    explicit Square(double s) : side(s), other(s) {}
    double area() const override {
        return side * other;
    }
};
} // namespace geo

struct Named {
    virtual ~Named() {}
    long id = 1;
};
struct Label : geo::Shape, Named {
    long text[4] = {};
    double area() const override {
        return 0;
    }
};
namespace {
struct Hidden {
    virtual ~Hidden() {}
    long room[9];
};
} // namespace
template <class T> struct Holder {
    virtual ~Holder() {}
    T value;
};

struct Plain { // no virtual function, so nothing to be told by
    char bytes[1000];
};

double total;

__attribute__((noinline)) static void drop(geo::Shape *shape) {
    total += shape->area();
    delete shape;
}

int main() {
    std::vector<geo::Shape *> shapes;
    for (int i = 0; i < 100; i++) {
        shapes.push_back(new geo::Circle(i));
        shapes.push_back(new geo::Square(i));
        shapes.push_back(new Label);
    }
    for (auto *shape : shapes)
        drop(shape);
    for (int i = 0; i < 10; i++) // freed before anything else is allocated
        drop(new geo::Circle(i));
    std::vector<Hidden *> hidden;
    for (int i = 0; i < 20; i++)
        hidden.push_back(new Hidden);
    auto shared = std::make_shared<geo::Square>(3.0);
    void *volatile holder = new Holder<std::string>;
    std::vector<Plain *> plain;
    for (int i = 0; i < 30; i++)
        plain.push_back(new Plain());
    return total < 0 || !holder || !shared || hidden.empty();
}
