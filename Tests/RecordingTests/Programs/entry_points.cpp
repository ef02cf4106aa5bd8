// Every form of operator new and delete once, with sizes that nothing else asks for: 20001 ...
#include <cstdio>
#include <new>

int main() {
    const std::align_val_t alignment{64};
    ::operator delete(::operator new(20001));
    ::operator delete(::operator new(20002, std::nothrow), std::nothrow);
    ::operator delete (::operator new(20003), std::size_t{20003});
    ::operator delete(::operator new(20004, alignment), alignment);
    ::operator delete(::operator new(20005, alignment, std::nothrow), alignment, std::nothrow);
    ::operator delete (::operator new(20006, alignment), std::size_t{20006}, alignment);
    ::operator delete[](::operator new[](20007));
    ::operator delete[](::operator new[](20008, std::nothrow), std::nothrow);
    ::operator delete[](::operator new[](20009), std::size_t{20009});
    ::operator delete[](::operator new[](20010, alignment), alignment);
    ::operator delete[](::operator new[](20011, alignment, std::nothrow), alignment, std::nothrow);
    ::operator delete[](::operator new[](20012, alignment), std::size_t{20012}, alignment);
    ::operator delete(nullptr); // no event
    std::puts("done");
    return 0;
}
