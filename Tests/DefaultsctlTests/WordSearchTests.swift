import KeyedArchive
import Testing

@testable import defaultsctl

/// What `find` finds in a value.
@Suite("A search for a word") struct WordSearchTests {
    @Test(
        "finds a number or a boolean that is the word, also inside other values",
        arguments: [
            ("42", "42"), ("42", "42.0"), ("0.5", "0.5"), ("-7", "[1,-7]"), ("true", "true"),
            ("TRUE", "true"), ("false", #"{"a":[false]}"#), ("1", "true"), ("0", "false"),
            ("1e3", "1000.0"), ("18446744073709551615", "18446744073709551615"),
            ("nan", #"{"$real":"nan"}"#),
        ])
    func found(word: String, json: String) throws {
        #expect(try WordSearch(for: word).matches(KeyedArchive(json: json)))
    }

    @Test(
        "does not find another number, or a part of one",
        arguments: [
            ("4", "42"), ("42", "420"), ("true", "1"), ("2", "true"), ("", "0"), ("x", "0"),
            ("9007199254740992", "9007199254740993"),
        ])
    func notFound(word: String, json: String) throws {
        #expect(try !WordSearch(for: word).matches(KeyedArchive(json: json)))
    }
}
