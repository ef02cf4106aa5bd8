// Allocates while a thread is being taken down: in the destructors of thread_local objects and of
// pthread keys, in every round of the latter.
#include <cstdio>
#include <cstdlib>
#include <limits.h>
#include <pthread.h>

static pthread_key_t key;

static void round_again(void *value) {
    long round = reinterpret_cast<long>(value);
    std::free(std::malloc(17001));
    if (round < PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_setspecific(key, reinterpret_cast<void *>(round + 1));
}

struct Local {
    void *block = std::malloc(17002);
    ~Local() {
        std::free(block);
        std::free(std::malloc(17003));
    }
};

static thread_local Local local;

static void *work(void *) {
    pthread_setspecific(key, reinterpret_cast<void *>(1L));
    return local.block;
}

int main() {
    pthread_key_create(&key, round_again);
    for (int i = 0; i < 10; i++) {
        pthread_t thread;
        if (pthread_create(&thread, nullptr, work, nullptr) != 0)
            return 1;
        pthread_join(thread, nullptr);
    }
    std::puts("done");
    return 0;
}
