import Symbolication
import Testing

@Suite("Classes that count the owners of objects of std::shared_ptr")
struct SharedCountsNameTests {
  private static let policy = "LN9__gnu_cxx12_Lock_policyE2EE"

  @Test(arguments: [
    ("St15_Sp_counted_ptrIP3Foo\(policy)", true),
    ("St23_Sp_counted_ptr_inplaceI3FooSaIvE\(policy)", true),
    ("St23_Sp_counted_ptr_inplaceIN1n1BI3FooEESaIS3_E\(policy)", true),
    ("St23_Sp_counted_ptr_inplaceI3FooNSt3pmr21polymorphic_allocatorIS0_EE\(policy)", false),
    ("St19_Sp_counted_deleterIP3FooSt14default_deleteIS0_ESaIvE\(policy)", true),
    ("St19_Sp_counted_deleterIP3FooSt17__sp_array_deleteSaIvE\(policy)", true),
    ("St19_Sp_counted_deleterIP3FooZ4mainEUlS1_E_SaIvE\(policy)", false),
    ("NSt3__120__shared_ptr_emplaceI3FooNS_9allocatorIS1_EEEE", true),
    ("NSt3__120__shared_ptr_emplaceI3FooNS_3pmr21polymorphic_allocatorIS1_EEEE", false),
    (
      "NSt3__120__shared_ptr_pointerIP3FooNS_10shared_ptrIS1_E27__shared_ptr_default_deleteIS1_"
        + "S1_EENS_9allocatorIS1_EEEE", true
    ),
    ("N5boost6detail17sp_counted_impl_pI3FooEE", true),
    ("N5boost6detail18sp_counted_impl_pdIP3FooNS0_13sp_ms_deleterIS2_EEEE", true),
    ("N5boost6detail18sp_counted_impl_pdIP3Foo7DeleterEE", false),
    ("St16_Sp_counted_baseI\(policy)", nil),
    ("3Foo", nil),
  ])
  func names(name: String, isOnlyForObject: Bool?) {
    #expect(SharedCountsName.isOnlyForObject(name) == isOnlyForObject)
  }
}
