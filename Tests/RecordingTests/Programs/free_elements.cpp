// Containers that live on, and what they have left in room that they do not use any more: pointers
// to what nobody has freed.
#include <deque>
#include <vector>

struct Cleared {
    long values[4];
};
struct Popped {
    long values[5];
};
struct Queued {
    long values[6];
};
struct Kept {
    long values[7];
};

struct Owner {
    std::vector<Cleared *> cleared;
    std::vector<Popped *> popped;
    std::deque<Queued *> queued;
    std::vector<Kept *> kept;
    std::deque<Kept *> keptQueue;
    std::vector<unsigned char> bytes;
};

static Owner *volatile owner;

__attribute__((noinline)) static void fill() {
    Owner *made = new Owner;
    for (int i = 0; i < 10; i++) {
        made->cleared.push_back(new Cleared());
        made->popped.push_back(new Popped());
        made->queued.push_back(new Queued());
        made->kept.push_back(new Kept());
    }
    for (int i = 0; i < 200; i++)
        made->keptQueue.push_back(new Kept());
    made->cleared.clear();
    made->popped.pop_back();
    made->popped.resize(6);
    for (int i = 0; i < 3; i++)
        made->queued.pop_front();
    // Room that the program uses itself.
    made->bytes.reserve(64);
    *reinterpret_cast<void **>(made->bytes.data()) = new Kept();
    owner = made;
}

// Overwrites what the calls have left on the stack.
__attribute__((noinline)) static void scrub() {
    volatile char bytes[4096];
    for (auto &byte : bytes)
        byte = 0;
}

int main() {
    fill();
    scrub();
}
