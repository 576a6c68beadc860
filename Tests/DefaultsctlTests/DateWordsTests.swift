import Testing

@testable import defaultsctl

@Suite("The words of a date") struct DateWordsTests {
    /// 2024-02-29 12:00:01 UTC, a Thursday.
    private static let moment = 730_900_801.0

    @Test(
        "may be in the form of mail, of HTTP, of date(1), and of people",
        arguments: [
            "Thu, 29 Feb 2024 12:00:01 +0000", "Thu, 29 Feb 2024 13:00:01 +0100 (CET)",
            "Thu, 29 Feb 2024 12:00:01 GMT", "29 Feb 2024 07:00:01 EST",
            "29 Feb 2024 05:00:01 PDT", "Thu Feb 29 12:00:01 UTC 2024",
            "Thu Feb 29 12:00:01 PM UTC 2024", "Thu 29 Feb 2024 12:00:01 PM UTC",
            "Thursday, February 29, 2024 12:00:01 Z", "2024-02-29 12:00:01+00:00",
            "2024-02-29T12:00:01,000000000+00:00", "29-Feb-2024 12:00:01 UTC",
            "Thu Feb 29 09:00:01 -03 2024", "Feb 29th 2024 12:00:01 GMT",
        ])
    func forms(words: String) {
        #expect(DateWords.read(words) == Self.moment)
    }

    @Test(
        "are not a date if something has no meaning, is there twice or contradicts the rest",
        arguments: [
            "Fri, 29 Feb 2024 12:00:01 +0000", "29 Feb 2024 12:00 XYZ", "29 Feb Mar 2024",
            "29 30 Feb 2024", "Feb 2024", "29 Feb", "29 Feb 24", "Thu Thu 29 Feb 2024",
            "29 Feb 2024 UTC UTC", "29 Feb 2024 2024-02-29", "Thu", "30 Feb 2024", "(UTC)",
            "29 Feb 2024 12:00 EST UTC",
        ])
    func noDates(words: String) {
        #expect(DateWords.read(words) == nil)
    }
}
