// Objects with counts of their owners, which are taken down as soon as they were made.
#include <memory>

struct Plain {
    long room[3];
};

int main() {
    {
        auto inside = std::make_shared<Plain>();
        std::shared_ptr<Plain> beside(new Plain);
    }
    return 0;
}
