import Testing
import TraceReader

@testable import Symbolication

/// Names of what the Rust library allocates, from the functions on the stack, leaf first.
@Suite struct RustContainerTests {
  private func name(_ functions: [String]) -> String? {
    RustContainers.name(
      of: functions.map { function in
        SymbolicatedFrame(
          programCounter: Address(1),
          function: FunctionName(
            raw: function, short: function, full: function, base: function, language: .rust))
      })?.short
  }

  @Test(
    arguments: [
      (["alloc::boxed::box_new_uninit", "alloc::boxed::Box<T>::new<d::Node>"], "Box<d::Node>"),
      (
        [
          "alloc::raw_vec::RawVecInner<A>::grow_one<alloc::alloc::Global>",
          "alloc::raw_vec::RawVec<T,A>::grow_one<u16, alloc::alloc::Global>",
          "alloc::vec::Vec<T,A>::push<u16, alloc::alloc::Global>",
        ], "Vec<u16> storage"
      ),
      (["<alloc::vec::Vec<alloc::string::String>>::push"], "Vec<String> storage"),
      (
        [
          "<alloc::raw_vec::RawVecInner>::grow_one<alloc::alloc::Global>",
          "<alloc::raw_vec::RawVec<alloc::vec::Vec<u8>>>::grow_one",
          "alloc::vec::Vec<T,A>::push_mut<alloc::string::String, alloc::alloc::Global>",
          "alloc::vec::Vec<T,A>::push<alloc::string::String, alloc::alloc::Global>",
        ], "Vec<String> storage"
      ),
      (
        [
          "<alloc::raw_vec::RawVec<u8>>::try_allocate_in",
          "<alloc::vec::Vec<alloc::string::String> as core::clone::Clone>::clone",
        ], "Vec<u8> storage"
      ),
      (["alloc::vec::from_elem<u8>"], "Vec<u8> storage"),
      (["<alloc::boxed::Box<[u64; 20: usize]>>::new"], "Box<[u64; 20]>"),
      (["<alloc[5f3a0b]::vec::Vec<[f64]>>::push"], "Vec<[f64]> storage"),
      (
        [
          "alloc::vec::Vec<T,A>::append_elements<u8, alloc::alloc::Global>",
          "alloc::string::String::push_str::h0123456789abcdef",
        ], "String storage"
      ),
      (
        [
          "alloc::raw_vec::RawVec<T,A>::grow_one<d::Foo, alloc::alloc::Global>",
          "alloc::collections::vec_deque::VecDeque<T,A>::grow<d::Foo, alloc::alloc::Global>",
        ], "VecDeque<d::Foo> storage"
      ),
      (
        [
          "alloc::boxed::Box<T>::new<alloc::rc::RcInner<d::Foo>>", "alloc::rc::Rc<T>::new<d::Foo>",
        ], "Rc<d::Foo>"
      ),
      (["alloc::boxed::Box<T>::new<alloc::sync::ArcInner<d::Foo>>"], "Arc<d::Foo>"),
      (
        ["alloc::rc::Rc<T>::new_uninit<core::mem::maybe_uninit::MaybeUninit<d::Foo>>"], "Rc<d::Foo>"
      ),
      (
        [
          "alloc::boxed::Box<T,A>::new_uninit_in",
          "alloc::collections::btree::node::LeafNode<K,V>::new<u32, d::Foo, alloc::alloc::Global>",
          "alloc::collections::btree::map::BTreeMap<K,V,A>::insert<u32, d::Foo>",
        ], "BTreeMap<u32, d::Foo> node"
      ),
      (
        [
          "<alloc::boxed::Box<alloc::collections::btree::node::LeafNode<usize, d::Info>>>"
            + "::try_new_uninit_in",
          "<alloc::collections::btree::map::BTreeMap<usize, d::Info>>::insert",
        ], "BTreeMap<usize, d::Info> node"
      ),
      (
        [
          "hashbrown::raw::RawTableInner::prepare_resize<alloc::alloc::Global>",
          "hashbrown::raw::RawTable<T,A>::reserve_rehash",
          "hashbrown::map::HashMap<K,V,S,A>::insert<u32, d::Foo, std::hash::random::RandomState>",
          "std::collections::hash::map::HashMap<K,V,S>::insert<u32, d::Foo, RandomState>",
        ], "HashMap<u32, d::Foo> storage"
      ),
      (
        ["<alloc::vec::Vec<T> as core::iter::traits::collect::FromIterator<T>>::from_iter"],
        "Vec storage"
      ),
      (["<alloc::vec::Vec<fn(u8) -> u16>>::push"], "Vec<fn(u8) -> u16> storage"),
    ] as [([String], String)])
  func containersAreNamed(functions: [String], expected: String) {
    #expect(name(functions) == expected)
  }

  @Test func theInnermostContainerCounts() {
    #expect(
      name([
        "<alloc::vec::Vec<u16> as core::clone::Clone>::clone",
        "<alloc::vec::Vec<alloc::vec::Vec<u16>> as core::clone::Clone>::clone",
      ]) == "Vec<u16> storage")
    #expect(
      name([
        "<alloc::vec::Vec<u16>>::push", "<alloc::collections::vec_deque::VecDeque<d::Foo>>::grow",
      ]) == "Vec<u16> storage")
    #expect(
      name([
        "<alloc::boxed::Box<d::Foo> as core::clone::Clone>::clone",
        "<alloc::vec::Vec<alloc::boxed::Box<d::Foo>> as core::clone::Clone>::clone",
      ]) == "Box<d::Foo>")
    #expect(
      name(["<alloc::vec::Vec<u16>>::push", "<alloc::rc::Rc<u8>>::new"]) == "Vec<u16> storage")
  }

  @Test func otherFunctionsAreNoContainers() {
    #expect(name([]) == nil)
    #expect(name(["alloc::alloc::alloc", "core::iter::Iterator::collect", "main", "<"]) == nil)
  }
}
