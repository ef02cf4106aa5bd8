import Testing

@testable import Symbolication

@Suite struct SwiftCaptureLayoutTests {
  @Test(arguments: [
    ("[3app6ScreenCXo]", [8]), ("[3app6ScreenCXu]", [8]), ("[3app6ScreenCSgXo]", [8]),
    ("[3app3BoxCySiGXo][Si]", [16]), ("[3app6ScreenCXu][s5Int32V][3app3BusCSgXwz_Xx]", [24]),
    ("[Sb][3app6ScreenCXo][SS][SiSSIegyr_]", [40]), ("[3app3BusC][Siz_Xx]", []), ("", []),
    ("[3app6ScreenCXo][SaySSG][SDySSSiGSg]", [24]),
  ])
  func unownedReferencesAreFoundFromTheEnd(recorded: String, expected: [UInt64]) {
    #expect(SwiftCaptureLayout(recorded)?.unownedFromEnd == expected)
  }

  @Test(arguments: [
    ("[Sb][3app6ScreenC]", [16]), ("[Sb][s5Int32V][3app6ScreenC]", [16]),
    ("[3app6ScreenC][Sb]", [1]), ("[Sf][s5Int32V][Si]", [16]), ("[3app6ScreenC][Si]", []),
  ])
  func wordsOfSmallNumbersAreFoundFromTheEnd(recorded: String, expected: [UInt64]) {
    #expect(SwiftCaptureLayout(recorded)?.numbersFromEnd == expected)
  }

  @Test(arguments: [
    "[][3app6ScreenCXo]", "[3app5PointV][3app6ScreenCXo]", "[3app6ScreenCXo][SiSg]",
    "[3app1P_pXo]", "[s5Int32VIetCy_][3app6ScreenCXo]", "[IegC_]", "[IegzB_]", "[I_]", "[_]",
  ])
  func valuesOfUnknownSizeLeaveTheLayoutUnknown(recorded: String) {
    #expect(SwiftCaptureLayout(recorded) == nil)
  }
}
