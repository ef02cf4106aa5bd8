/* Functions that GCC's debug information has without mangled names, inlined into each other. */
namespace app {
/* The label marks an instruction of the innermost one. */
static inline __attribute__((always_inline)) void mark(int count) {
    __asm__ volatile(".globl probe\nprobe: nop" ::"r"(count) : "memory");
}

namespace {
class Worker {
  public:
    __attribute__((always_inline)) void run(int count) {
        mark(count);
    }
};
} // namespace

__attribute__((noinline)) void load(int count) {
    auto each = [](int number) __attribute__((always_inline)) {
        Worker().run(number);
    };
    each(count);
}
} // namespace app

int main(int argc, char **) {
    app::load(argc);
}
