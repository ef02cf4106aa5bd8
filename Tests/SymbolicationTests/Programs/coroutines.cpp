// A coroutine that is suspended and given up, with an object that it made.
#include <coroutine>
#include <exception>

struct Task {
    struct promise_type {
        Task get_return_object() {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never initial_suspend() {
            return {};
        }
        std::suspend_always final_suspend() noexcept {
            return {};
        }
        void return_void() {}
        void unhandled_exception() {
            std::terminate();
        }
    };
    std::coroutine_handle<promise_type> handle;
};

struct Foo {
    long numbers[9];
};

static void *volatile last;

namespace app {
__attribute__((noinline)) Task work(int number) {
    Foo *foo = new Foo;
    foo->numbers[0] = number;
    co_await std::suspend_always{};
    foo->numbers[1] = number;
}

// clang-format off
// The frame is made in a line that has a new, which is in the body.
__attribute__((noinline)) Task line() { Foo *foo = new Foo; co_await std::suspend_always{}; delete foo; }
// clang-format on
} // namespace app

__attribute__((noinline)) static void clear_stack(void) {
    volatile char bytes[8192];
    for (unsigned index = 0; index < sizeof bytes; index++)
        bytes[index] = 0;
}

__attribute__((noinline)) static void give_up(void) {
    last = app::work(3).handle.address();
    last = app::line().handle.address();
    last = nullptr;
}

int main() {
    give_up();
    clear_stack();
}
