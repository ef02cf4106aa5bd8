// Pointers into deleted objects, and what containers leave behind.
//
//   dangling         pointers into deleted objects, and what is deleted while the process ends
//   dangling none    none
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct Part {
    virtual ~Part() {}
    long numbers[5] = {};
};

struct Label {
    virtual ~Label() {}
    long numbers[10] = {};
};

struct Widget {
    virtual ~Widget() {}
    long number = 0;
    Label *label = nullptr;
};

struct Counted {
    ~Counted() {}
    long numbers[4] = {};
};

static Widget *widget;
static std::vector<Part *> *observers;
static Counted *elements;

// Freed by its destructor, when main has returned.
static std::vector<long> numbers(77);

static void dropLabel() {
    widget = new Widget;
    widget->label = new Label;
    delete widget->label;
}

// An observer is deleted and does not sign off.
static void forgetToSignOff() {
    observers = new std::vector<Part *>;
    observers->reserve(8);
    for (int i = 0; i < 4; i++)
        observers->push_back(new Part);
    delete (*observers)[1];
}

static void dropElements() {
    elements = new Counted[9];
    delete[] elements;
}

static std::vector<Part *> *popped;
static std::deque<std::string> *queue;
static std::map<int, std::string> *names;
static std::unique_ptr<Widget> *owner;
static std::weak_ptr<Widget> *expired;
static std::shared_ptr<Widget> *other;

// Two owners that do not know of each other.
static void ownTwice() {
    Widget *taken = new Widget;
    other = new std::shared_ptr<Widget>(taken);
    std::shared_ptr<Widget> first(taken);
}

static void keepNone() {
    popped = new std::vector<Part *>;
    for (int i = 0; i < 8; i++)
        popped->push_back(new Part);
    for (int i = 0; i < 4; i++) {
        delete popped->back();
        popped->pop_back();
    }
    queue = new std::deque<std::string>;
    for (int i = 0; i < 100; i++) {
        queue->push_back("a text that is long enough for a block of its own");
        if (queue->size() > 10)
            queue->pop_front();
    }
    names = new std::map<int, std::string>;
    for (int i = 0; i < 100; i++)
        (*names)[i] = "another text that is long enough for a block";
    for (int i = 0; i < 100; i += 3)
        names->erase(i);
    owner = new std::unique_ptr<Widget>(new Widget);
    owner->reset();
    std::shared_ptr<Widget> shared(new Widget);
    expired = new std::weak_ptr<Widget>(shared);
}

int main(int argc, char **argv) {
    if (argc > 1 && std::strcmp(argv[1], "none") == 0) {
        keepNone();
        return 0;
    }
    dropLabel();
    forgetToSignOff();
    dropElements();
    ownTwice();
    return 0;
}
