import KeyedArchive
import Testing

@testable import defaultsctl

/// The words of a value, as the tool reads them under each of its names.
@Suite("The words of a value") struct ValueWordsTests {
    /// The value of some words as JSON; nil if they are refused.
    private func json(_ words: [String], as program: ProgramName) -> String? {
        var value = ValueWords(words, for: program)
        guard case .value(let written)? = try? value.request() else { return nil }
        return try? written.archive().jsonText()
    }

    @Test(
        "that are not a number as a whole are refused; the name defaults stores what macOS would",
        arguments: [
            (["-int", "1e3"], "1"), (["-int", "3.99"], "3"), (["-integer", "0x1F"], "0"),
            (["-int", "15px"], "15"), (["-int", "1,000"], "1"), (["-int", "٣"], "0"),
            (["-int", "nan"], "0"), (["-int", "true"], "0"), (["-int", ""], "0"),
            (["-int", "--5"], "0"), (["-float", "0,5"], "0.0"), (["-float", "50%"], "50.0"),
            (["-float", "1.2.3"], "1.2"), (["-float", "0x1p3"], "0.0"), (["-float", "1d"], "1.0"),
            (["-float", "half"], "0.0"), (["-array", "-int", "1", "-int", "2x"], "[1,2]"),
            (["-dict", "a", "-float", "0,5"], #"{"a":0.0}"#),
        ])
    func notNumbers(words: [String], onMacOS: String) {
        #expect(json(words, as: .defaultsctl) == nil)
        #expect(json(words, as: .defaults) == onMacOS)
    }

    @Test(
        "that are a number are that number under both names",
        arguments: [
            (["-int", "+7"], "7"), (["-int", " 7\n"], "7"), (["-int", "-0"], "0"),
            (["-float", "1e3"], "1000.0"), (["-float", " .5 "], "0.5"),
            (["-float", "0e-999"], "0.0"),
            (["-float", "inf"], #"{"$real":"inf"}"#), (["-float", "-0.0"], "-0.0"),
        ])
    func numbers(words: [String], expected: String) {
        for program in [ProgramName.defaultsctl, .defaults] {
            #expect(json(words, as: program) == expected)
        }
    }

    @Test(
        "whose number would become infinity or zero are refused under both names",
        arguments: ["1e400", "-1e400", "1e-400", "-0.1e-999"])
    func lostReals(word: String) {
        for program in [ProgramName.defaultsctl, .defaults] {
            #expect(json(["-float", word], as: program) == nil)
        }
    }

    @Test(
        "that begin with a hyphen, without a type, are refused; the name defaults says that it stores them",
        arguments: ["-foo", "-x", "-currentHosts", "-5px", "--"])
    func hyphens(word: String) {
        #expect(json([word], as: .defaultsctl) == nil)
        #expect(json([word], as: .defaults) == "\"\(word)\"")
        var value = ValueWords([word], for: .defaults)
        _ = try? value.request()
        #expect(value.remarks.count == 1)
        #expect(json(["-string", word], as: .defaultsctl) == "\"\(word)\"")
    }

    @Test(
        "that are negative numbers, or one hyphen, need no type",
        arguments: ["-5", "-0.5", "-inf", "-"])
    func negativeNumbers(word: String) {
        #expect(json([word], as: .defaultsctl) == "\"\(word)\"")
    }
}
