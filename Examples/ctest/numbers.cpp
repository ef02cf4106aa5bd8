// Tests of lists of numbers; two of them are broken.
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <string>

static int *make_numbers(int count) {
    int *numbers = new int[count];
    std::iota(numbers, numbers + count, 0);
    return numbers;
}

static bool sums() {
    int *numbers = make_numbers(10);
    int total = std::accumulate(numbers, numbers + 10, 0);
    delete[] numbers;
    return total == 45;
}

static bool copies() {
    int *numbers = make_numbers(5), copied[5];
    std::memcpy(copied, numbers, sizeof copied);
    delete[] numbers;
    return copied[4] == 4;
}

static bool forgets() {
    int total = 0;
    for (int count = 1; count <= 4; count++)
        total += make_numbers(count)[count - 1];
    return total == 6;
}

static bool frees_wrongly() {
    int *numbers = make_numbers(4);
    bool is_right = numbers[3] == 3;
    std::free(numbers);
    return is_right;
}

int main(int count, char **words) {
    const std::map<std::string, std::function<bool()>> tests = {
        {"sums", sums}, {"copies", copies}, {"forgets", forgets}, {"frees_wrongly", frees_wrongly}};
    auto test = tests.find(count > 1 ? words[1] : "");
    return test != tests.end() && test->second() ? 0 : 1;
}
