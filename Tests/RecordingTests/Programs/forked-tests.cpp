/* Tests that harnesses fork: "g" as a death test of GoogleTest in the style "fast", "c" as one
 * of Check, "o" as one of nobody's. A second letter says how the child ends: "k" by a signal, "a"
 * by abort, "e" by exit. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile held;

__attribute__((noinline)) static void test(char end) {
    if (fork() == 0) {
        held = malloc(40);
        held = NULL;
        if (end == 'k')
            raise(SIGSEGV);
        if (end == 'a')
            abort();
        exit(0);
    }
    wait(NULL);
}

namespace testing {
struct Test {
    char end;
    __attribute__((noinline)) void Run();
};
void Test::Run() {
    test(end);
    held = NULL;
}
} // namespace testing

extern "C" __attribute__((noinline)) void srunner_run_tagged(char end) {
    test(end);
    held = NULL;
}

int main(int count, char **arguments) {
    if (count < 2)
        return 2;
    const char *letters = arguments[1];
    if (letters[0] == 'g')
        testing::Test{letters[1]}.Run();
    else if (letters[0] == 'c')
        srunner_run_tagged(letters[1]);
    else
        test(letters[1]);
    return 0;
}
