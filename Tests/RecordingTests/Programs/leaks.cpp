// Known leaks of C++, and blocks that look like leaks and are none.
//
//   leaks           runs all cases
//   leaks --list    prints the name of each case and how many blocks it leaks
//
// Each case is a function; its name is on the stack of all blocks that belong to it. Cases named
// leak_* leak, cases named keep_* hold what they allocate until the process ends.
#include <any>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <forward_list>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <pthread.h>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const {
        return 0;
    }
    double width = 1;
};

struct Circle final : Shape {
    double radius = 2;
};

struct Named {
    virtual ~Named() = default;
    const char *name = "unnamed";
};

struct Label : Shape, Named {
    int number = 3;
};

struct Base {
    virtual ~Base() = default;
    long value = 1;
};
struct Left : virtual Base {
    long left = 2;
};
struct Right : virtual Base {
    long right = 3;
};
struct Diamond : Left, Right {
    long own = 4;
};

struct Person {
    std::shared_ptr<Person> partner;
    int age = 5;
};

struct Button {
    std::function<void()> action;
};

struct Delegate {
    virtual ~Delegate() = default;
};

struct View {
    std::shared_ptr<Delegate> delegate;
};

struct Controller : Delegate {
    std::shared_ptr<View> view;
};

struct Counted {
    ~Counted() {
        number = 0;
    }
    int number = 6;
};

// Takes the address out of the optimiser's hands, and out of the caller's frame.
template <class T> static T *&slot() {
    static T *kept;
    return kept;
}

static void clear_stack() {
    char dead[32768];
    std::memset(dead, 0, sizeof dead);
    asm volatile("" ::"r"(dead) : "memory");
}

/* ---- Leaks ---- */

static void leak_object() {
    new Circle;
}

static void leak_plain_array() {
    new int[50];
}

static void leak_array() {
    new Counted[4];
}

static void leak_bases() {
    new Label;
    new Diamond;
}

static void leak_shared_cycle() {
    auto first = std::make_shared<Person>();
    auto second = std::make_shared<Person>();
    first->partner = second;
    second->partner = first;
}

// The object and its control block are two blocks here, which hold each other.
static void leak_shared_self() {
    std::shared_ptr<Person> alone(new Person);
    alone->partner = alone;
}

static void leak_closure() {
    auto button = std::make_shared<Button>();
    char padding[40] = {};
    button->action = [button, padding] { (void)padding[0]; };
}

static void leak_delegate() {
    auto view = std::make_shared<View>();
    auto controller = std::make_shared<Controller>();
    view->delegate = controller;
    controller->view = view;
}

// A cycle over a container.
struct Group {
    std::vector<std::shared_ptr<Group>> members;
};

static void leak_two_levels() {
    auto outer = std::make_shared<Group>();
    auto inner = std::make_shared<Group>();
    outer->members.push_back(inner);
    inner->members.push_back(outer);
}

static void leak_containers() {
    auto list = new std::list<std::string>;
    list->push_back("one string that is too long to be kept in place");
    list->push_back("short");
    auto table = new std::unordered_map<int, int>;
    for (int i = 0; i < 3; i++)
        (*table)[i] = i;
}

static void leak_released() {
    std::make_unique<Circle>().release();
}

static void throw_after(Circle *) {
    throw std::runtime_error("for a leak");
}

static void leak_by_exception() {
    try {
        auto circle = new Circle;
        throw_after(circle);
        delete circle;
    } catch (const std::exception &) {
    }
}

// Its destructor is not the derived class's, so that what that owns stays.
struct Plain {
    ~Plain() {}
    int number = 7;
};
struct Owner : Plain {
    std::unique_ptr<Circle> circle = std::make_unique<Circle>();
};

static void leak_by_wrong_destructor() {
    Owner *owner = new Owner;
    Plain *plain = owner;
    plain->~Plain();
    ::operator delete(owner);
}

/* ---- No leaks ---- */

static void keep_second_base() {
    slot<Named>() = new Label;
}

static void keep_virtual_base() {
    slot<Base>() = new Diamond;
}

static void keep_array() {
    slot<Counted>() = new Counted[10];
}

static void keep_shared() {
    static auto kept = new std::shared_ptr<Shape>(std::make_shared<Circle>());
    static auto other = new std::shared_ptr<double>(*kept, &(*kept)->width);
    static auto separate = new std::shared_ptr<Named>(new Label);
    (void)other, (void)separate;
}

// The object is gone, the control block it lies in is not.
static void keep_weak() {
    static auto kept = new std::weak_ptr<Person>;
    auto person = std::make_shared<Person>();
    *kept = person;
}

static void keep_unique() {
    static auto kept = new std::unique_ptr<Circle[]>(new Circle[3]);
    (void)kept;
}

static void keep_strings() {
    static auto kept = new std::vector<std::string>;
    for (int i = 0; i < 20; i++)
        kept->push_back(std::string(i * 5, 'x'));
    static auto wide = new std::wstring(100, L'y');
    (void)wide;
}

static void keep_sequences() {
    static auto list = new std::list<std::string>;
    static auto forward = new std::forward_list<std::list<int>>;
    static auto deque = new std::deque<std::string>;
    static auto bits = new std::vector<bool>(10000);
    for (int i = 0; i < 100; i++) {
        list->push_back("a string of the list that is not short");
        forward->push_front({i, i, i});
        deque->push_back("a string of the deque that is not short");
        if (i > 10)
            deque->pop_front();
    }
    (void)bits;
}

static void keep_tables() {
    static auto map = new std::map<std::string, std::vector<int>>;
    static auto set = new std::set<std::string>;
    static auto hashed = new std::unordered_map<std::string, std::unique_ptr<Circle>>;
    static auto multi = new std::unordered_multimap<int, std::string>;
    for (int i = 0; i < 100; i++) {
        auto name = "a key that is not short at all " + std::to_string(i);
        (*map)[name] = {i, i};
        set->insert(name);
        (*hashed)[name] = std::make_unique<Circle>();
        multi->emplace(i & 7, name);
    }
}

static void keep_functions() {
    std::string text(60, 'z');
    static auto kept = new std::function<std::size_t()>([text] { return text.size(); });
    static auto bound = new std::function<std::size_t()>(
        std::bind([](const std::string &a, double) { return a.size(); }, text, 3.0));
    (void)kept, (void)bound;
}

static void keep_values() {
    static auto any = new std::any(std::string(70, 'a'));
    static auto either = new std::variant<int, std::string>(std::string(80, 'b'));
    static auto maybe = new std::optional<std::vector<Circle>>(3);
    (void)any, (void)either, (void)maybe;
}

static void keep_resource() {
    static auto buffer = new std::pmr::monotonic_buffer_resource(100);
    static auto pool = new std::pmr::unsynchronized_pool_resource;
    static auto strings = new std::pmr::list<std::pmr::string>(buffer);
    static auto numbers = new std::pmr::map<int, std::pmr::string>(pool);
    for (int i = 0; i < 50; i++) {
        strings->emplace_back(90, 'c');
        numbers->emplace(i, "a text that is longer than what fits in place");
    }
}

// Numbers lead to no other buffer than their own: the earlier ones are held by the resource alone.
static void keep_buffers() {
    static auto buffer = new std::pmr::monotonic_buffer_resource;
    static auto numbers = new std::pmr::vector<int>(buffer);
    for (int i = 0; i < 1000; i++)
        numbers->push_back(i);
}

static void keep_exception() {
    static auto kept = new std::exception_ptr;
    try {
        throw std::runtime_error("kept for later, with a text of its own");
    } catch (...) {
        *kept = std::current_exception();
    }
}

static void keep_future() {
    static auto promise = new std::promise<std::string>;
    static auto future = new std::future<std::string>(promise->get_future());
    promise->set_value(std::string(95, 'd'));
    (void)future;
}

static thread_local std::vector<std::string> words;

static void keep_thread_local() {
    words.push_back(std::string(45, 'e'));
}

static void keep_static() {
    static std::map<int, std::string> table;
    table[1] = std::string(46, 'f');
}

static std::atomic<int> parked{0};

// Nothing but iterators and references on a stack.
static void park_in_keep_thread() {
    auto text = std::make_unique<std::string>(50, 'g');
    std::vector<std::unique_ptr<Circle>> circles;
    for (int i = 0; i < 5; i++)
        circles.push_back(std::make_unique<Circle>());
    std::thread([] {}).join();
    words.push_back(std::string(47, 'h'));
    parked = 1;
    for (;;)
        pause();
}

static void keep_thread() {
    std::thread(park_in_keep_thread).detach();
    while (!parked)
        std::this_thread::yield();
}

/* Held in ways that numbers might hold them by chance: possible leaks. */

static void keep_member() {
    static double *radius;
    radius = &(new Circle)->radius;
}

static void keep_element() {
    static std::vector<int>::iterator middle;
    auto numbers = new std::vector<int>(100, 1);
    middle = numbers->begin() + 50;
    slot<std::vector<int>>() = numbers;
}

/* ---- The list ---- */

#define CASE(name, leaked)                                                                         \
    { #name, name, leaked }

static const struct {
    const char *name;
    void (*run)();
    int leaked;
} cases[] = {
    CASE(leak_object, 1),
    CASE(leak_plain_array, 1),
    CASE(leak_array, 1),
    CASE(leak_bases, 2),
    CASE(leak_shared_cycle, 2),
    CASE(leak_shared_self, 2),
    CASE(leak_closure, 2),
    CASE(leak_delegate, 2),
    CASE(leak_two_levels, 4),
    // Two containers, two nodes and a string; three nodes and a table.
    CASE(leak_containers, 9),
    CASE(leak_released, 1),
    CASE(leak_by_exception, 1),
    CASE(leak_by_wrong_destructor, 1),
    CASE(keep_second_base, 0),
    CASE(keep_virtual_base, 0),
    CASE(keep_array, 0),
    CASE(keep_shared, 0),
    CASE(keep_weak, 0),
    CASE(keep_unique, 0),
    CASE(keep_strings, 0),
    CASE(keep_sequences, 0),
    CASE(keep_tables, 0),
    CASE(keep_functions, 0),
    CASE(keep_values, 0),
    CASE(keep_resource, 0),
    CASE(keep_buffers, 0),
    CASE(keep_exception, 0),
    CASE(keep_future, 0),
    CASE(keep_thread_local, 0),
    CASE(keep_static, 0),
    CASE(keep_thread, 0),
    CASE(keep_member, 0),
    CASE(keep_element, 0),
};

int main(int argc, char **argv) {
    bool list = argc == 2 && std::strcmp(argv[1], "--list") == 0;
    for (const auto &test : cases) {
        if (list) {
            std::printf("%s %d\n", test.name, test.leaked);
        } else {
            test.run();
            clear_stack();
        }
    }
    return 0;
}
