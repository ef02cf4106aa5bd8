// Functions that return texts, and some that do more than that.
#define TEN(x) x x x x x x x x x x

static const char array[] = "leak:array\n";
static volatile int choice;
static const char *volatile pointer = "leak:pointer\n";

const char *literal(void) {
    return "leak:one\nleak:two\n";
}
const char *of_array(void) {
    return array;
}
const char *long_text(void) {
    return TEN(TEN(TEN("leak:x\n")));
}
const char *none(void) {
    return 0;
}
const char *chosen(void) {
    return choice ? "leak:a\n" : "leak:b\n";
}
const char *of_variable(void) {
    return pointer;
}
__attribute__((noinline)) static const char *inner(void) {
    choice++;
    return "leak:inner\n";
}
const char *called(void) {
    return inner();
}

int main(void) {
    return literal() && of_array() && long_text() && chosen() && of_variable() && called() &&
           none();
}
