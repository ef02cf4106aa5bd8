// The host replaces new and delete with a pool of its own: blocks that free() must never see.
#include <cstdio>
#include <cstdlib>
#include <new>
static char g_pool[1 << 20];
static size_t g_used, g_news, g_deletes;
void *operator new(std::size_t size) {
    g_news++;
    void *p = g_pool + g_used;
    g_used += (size + 31) & ~size_t(15);
    return p;
}
void operator delete(void *p) noexcept {
    g_deletes += p != nullptr;
}
struct Thing {
    int x[10];
    ~Thing() {}
};
static Thing *volatile one, *volatile many, *volatile quiet; // else compilers leave the pairs out
int main() {
    one = new Thing;
    delete one;
    many = new Thing[5];
    delete[] many;
    quiet = new (std::nothrow) Thing;
    delete quiet;
    std::printf("%zu news, %zu deletes\n", g_news, g_deletes);
}
