import Testing
import TraceReader

@testable import Symbolication

/// Names of what the C++ library allocates, from the functions on the stack, leaf first.
@Suite struct ContainerNameTests {
  private func name(_ functions: [String]) -> String? {
    ContainerNames.name(of: frames(functions))?.short
  }

  private func frames(_ functions: [String]) -> [SymbolicatedFrame] {
    functions.map { function in
      SymbolicatedFrame(
        programCounter: Address(1),
        function: FunctionName(
          raw: function, short: function, full: function, base: function, language: .cxx))
    }
  }

  @Test func theInnermostContainerCounts() {
    #expect(
      name([
        "std::__new_allocator<int>::allocate", "std::vector<int>::vector",
        "std::vector<std::vector<int>>::push_back",
      ]) == "std::vector<int> storage")
    #expect(
      name(["std::vector<short>::vector", "std::map<int, std::vector<short>>::operator[]"])
        == "std::vector<short> storage")
  }

  @Test func partsGetTheNameOfTheirContainer() {
    let tree = "std::_Rb_tree<int, std::pair<int const, Foo>, std::_Select1st<int>>"
    #expect(
      name(["\(tree)::_M_create_node", "std::multimap<int, Foo>::insert"])
        == "std::multimap<int, Foo> node")
    #expect(name(["\(tree)::_M_create_node"]) == "std::map<int, Foo> node")
    #expect(name(["std::_Rb_tree<long, long, X>::_M_insert_"]) == "std::set<long> node")
    #expect(name(["std::_Vector_base<int>::_M_allocate"]) == "std::vector<int> storage")
    #expect(name(["std::_Deque_base<Foo>::_M_allocate_node"]) == "std::deque<Foo> storage")
  }

  @Test func countsOfSharedPointersAreNamedAfterTheObject() {
    #expect(
      name([
        "std::__new_allocator<std::_Sp_counted_ptr_inplace<Foo>>::allocate",
        "std::__shared_count<(__gnu_cxx::_Lock_policy)2>::__shared_count<Foo, std::allocator<void>>",
        "std::make_shared<Foo>",
      ]) == "std::_Sp_counted_ptr_inplace<Foo>")
    #expect(
      name([
        "std::__shared_count<(__gnu_cxx::_Lock_policy)2>::__shared_count<ns::Foo*>",
        "std::shared_ptr<ns::Foo>::shared_ptr<ns::Foo>",
      ]) == "std::_Sp_counted_ptr<ns::Foo*>")
    #expect(name(["ns::make_shared<Foo>"]) == nil)
  }

  /// A thread allocates its state, which begins with the word of a class of its own.
  @Test func whatAnElementAllocatesAsItIsMadeIsNotTheContainers() {
    #expect(name(["std::thread::thread<f>", "std::vector<std::thread>::emplace_back<f>"]) == nil)
    #expect(name(["std::promise<int>::promise", "std::vector<std::promise<int>>::vector"]) == nil)
    #expect(
      name([
        "std::_Rb_tree<int, std::pair<int const, Foo>, X>::_Auto_node::_Auto_node<int>",
        "std::map<int, Foo>::emplace<int>",
      ]) == "std::map<int, Foo> node")
  }

  @Test func aResourceOwnsItsBuffers() {
    #expect(
      name([
        "std::pmr::monotonic_buffer_resource::_M_new_buffer",
        "std::pmr::monotonic_buffer_resource::do_allocate", "std::vector<int>::push_back",
      ]) == "std::pmr::monotonic_buffer_resource storage")
  }

  @Test func exceptionsAreNamedByTheirRuntime() {
    func name(_ functions: [String]) -> String? {
      CxxRuntimeBlocks.name(
        of: functions.map { function in
          SymbolicatedFrame(
            programCounter: Address(1), function: FunctionName(plain: function))
        }, calledBy: nil)?.short
    }
    #expect(name(["__cxa_allocate_exception", "std::__throw_bad_alloc"]) == "C++ exception")
    #expect(
      name(["__cxa_allocate_dependent_exception", "std::rethrow_exception"])
        == "C++ rethrown exception")
    #expect(name(["__cxa_get_globals"]) == nil)
  }

  /// One of the system, whose initializers have no names and are called by the loader, and one that is linked in.
  @Test func theEmergencyPoolIsWhatTheLibraryAllocatesAsItStarts() {
    func frame(_ function: String?, in image: String) -> SymbolicatedFrame {
      SymbolicatedFrame(
        programCounter: Address(1), function: function.map { FunctionName(plain: $0) },
        imagePath: image)
    }
    let library = frame(nil, in: "/usr/lib/x86_64-linux-gnu/libstdc++.so.6")
    let loader = frame("call_init", in: "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2")
    let initializer = frame("_GLOBAL__sub_I__ZN9__gnu_cxx9__freeresEv", in: "/opt/app")
    let program = frame("main", in: "/opt/app")
    func name(_ frames: [SymbolicatedFrame], _ caller: SymbolicatedFrame?) -> String? {
      CxxRuntimeBlocks.name(of: frames, calledBy: caller)?.short
    }
    #expect(name([library], loader) == "C++ emergency pool")
    #expect(name([], initializer) == "C++ emergency pool")
    #expect(name([library], program) == nil)
    #expect(name([frame("f", in: "/opt/libapp.so")], loader) == nil)
    #expect(name([], loader) == nil)
    #expect(name([library], nil) == nil)
  }

  @Test func anotherContainerAroundAPartIsNotItsContainer() {
    #expect(
      name(["std::_Vector_base<int>::_M_allocate", "std::map<int, std::vector<int>>::operator[]"])
        == "std::vector<int> storage")
  }

  @Test func bucketsAreToldFromNodes() {
    let table = "std::_Hashtable<int, std::pair<int const, Foo>, A>"
    #expect(
      name([
        "std::__detail::_Hashtable_alloc<X>::_M_allocate_buckets", "\(table)::_M_rehash",
        "std::unordered_map<int, Foo>::operator[]",
      ]) == "std::unordered_map<int, Foo> buckets")
    #expect(name(["\(table)::_M_insert"]) == "std::unordered_map<int, Foo> node")
  }

  @Test func makeUniqueNamesTheType() {
    #expect(name(["std::make_unique<ns::Foo<int>, int>"]) == "ns::Foo<int>")
    #expect(name(["std::make_unique<ns::Foo []>"]) == "ns::Foo[]")
    #expect(name(["std::make_unique_for_overwrite<int []>"]) == "int[]")
  }

  @Test func containersWithAMemoryResourceHaveTheirOwnNames() {
    let pmr = "std::pmr::polymorphic_allocator<X>"
    #expect(name(["std::pmr::map<int, Foo>::insert"]) == "std::pmr::map<int, Foo> node")
    #expect(name(["std::pmr::string::_M_create"]) == "std::pmr::string storage")
    #expect(
      name(["std::_Vector_base<int, \(pmr)>::_M_allocate"]) == "std::pmr::vector<int> storage")
    #expect(
      name(["std::_Rb_tree<int, std::pair<int const, Foo>, S, L, \(pmr)>::_M_insert_"])
        == "std::pmr::map<int, Foo> node")
    #expect(
      name(["std::_Hashtable<int, int, \(pmr)>::_M_insert"])
        == "std::pmr::unordered_set<int> node")
  }

  /// What other libraries' containers, and the program's, ask an allocator of the standard library for.
  @Test(arguments: [
    (["std::__new_allocator<Foo>::allocate", "std::allocator<Foo>::allocate"], "Foo"),
    (["std::allocator_traits<std::allocator<a::N<int>>>::allocate"], nil),
    (
      ["operator new", "boost::container::new_allocator<std::pair<int, A>>::allocate"],
      "std::pair<int, A>"
    ),
    (["std::pmr::polymorphic_allocator<Foo>::allocate"], "Foo"),
    (["std::allocator<char>::allocate", "std::allocator<Foo>::allocate"], nil),
    (["std::allocator<Foo>::deallocate", "app::Pool<Foo>::allocate"], nil),
  ])
  func elementsOfOtherContainers(functions: [String], expected: String?) {
    #expect(ContainerNames.elementType(of: frames(functions))?.short == expected)
  }

  @Test func otherFunctionsAreNoContainers() {
    #expect(name([]) == nil)
    #expect(name(["parse", "Foo::bar", "std::sort<int*>"]) == nil)
    #expect(name(["std::_Rb_tree<"]) == nil, "a damaged name")
  }

  @Test func argumentsAreTakenApart() {
    #expect(CxxMember.arguments(of: "std::pair<int const, A<b, c>>") == ["int const", "A<b, c>"])
    #expect(CxxMember.arguments(of: "int") == [])
    #expect(CxxMember.arguments(of: "A<b") == [])
  }
}
