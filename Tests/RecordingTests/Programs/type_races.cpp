// Objects change hands between threads and are destroyed by another one at once, at the very moment
// at which their own thread's recorder may be looking at them. Prints what was destroyed.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

struct Job {
    virtual ~Job() {}
    virtual long cost() const = 0;
};
struct Small : Job {
    long a = 1;
    long cost() const override {
        return a;
    }
};
struct Large : Job {
    char room[30000];
    long a = 2;
    long cost() const override {
        return a;
    }
};

static std::atomic<Job *> slots[4];
static std::atomic<long> total;

static void give(int from, Job *job) {
    Job *old = slots[from].exchange(job);
    if (old) {
        total += old->cost();
        delete old;
    }
}

static void work(int number) {
    for (int i = 0; i < 20000; i++) {
        give((number + i) % 4, new Small);
        if (i % 100 == 0)
            give((number + i) % 4, new Large);
        free(malloc(100 + i % 7));
    }
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back(work, i);
    for (auto &thread : threads)
        thread.join();
    for (int i = 0; i < 4; i++)
        give(i, nullptr);
    printf("%ld\n", total.load());
}
