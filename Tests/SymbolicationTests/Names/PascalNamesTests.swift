import Testing

@testable import Symbolication

@Suite("Names of Free Pascal")
struct PascalNamesTests {
  @Test(arguments: [
    "SYSTEM$_$TOBJECT_$__$$_NEWINSTANCE$$TOBJECT", "SYSTEM_$$_GETMEM$QWORD$$POINTER",
    "CMEM_$$_CGETMEM$QWORD$$POINTER", "CLASSES$_$TSTRINGLIST_$__$$_SETCAPACITY$LONGINT",
    "SYSUTILS_$$_STRALLOC$LONGWORD$$PCHAR", "fpc_getmem", "CTHREADS_$$_init$",
  ])
  func theRuntimeLibrary(name: String) {
    #expect(PascalNames.isOfRuntimeLibrary(name))
    #expect(RuntimeNames.isRuntime(Demangler.name(of: name)))
  }

  @Test(arguments: [
    "P$_$TNODE_$__$$_APPEND$LONGINT", "P_$$_LEAK", "PASCALMAIN", "SYSTEM", "SYSTEM$", "$", "",
    "SYSTEMS_$$_MAKE", "MYCLASSES$_$TLIST_$__$$_ADD", "_$$_X",
  ])
  func aProgram(name: String) { #expect(!PascalNames.isOfRuntimeLibrary(name)) }
}
