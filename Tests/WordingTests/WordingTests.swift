import Foundation
import Testing

@testable import Wording

/// How messages spell numbers and types.
@Suite struct WordingTests {
    @Test(arguments: [(0, "0 keys are"), (1, "1 key is"), (2, "2 keys are"), (21, "21 keys are")])
    func `One thing is singular, and any other number is plural`(_ count: Int, _ words: String) {
        #expect(counted(count, "key", verb: "is", "are") == words)
    }

    @Test func `A noun with a plural of its own has it`() {
        #expect(counted(1, "entry", "entries") == "1 entry")
        #expect(counted(UInt64(2), "entry", "entries") == "2 entries")
        #expect(counted(-1, "byte") == "-1 bytes")
    }

    private struct Account {}

    @Test func `A type of the standard library has the name that users know`() {
        #expect(words(for: Bool.self) == "a boolean")
        #expect(words(for: UInt8.self) == "an integer")
        #expect(words(for: Float.self) == "a number")
        #expect(words(for: String.self) == "a string")
        #expect(words(for: [String: Any].self) == "a dictionary or an object")
        #expect(words(for: [Int].self) == "an array")
        #expect(words(for: Set<Int>.self) == "a set")
        #expect(words(for: Int??.self) == "an integer")
        #expect(words(for: [String]?.self) == "an array")
        #expect(words(for: Account.self) == "a value of the type Account")
    }

    @Test func `No other module chooses between the singular and the plural`() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources").standardizedFileURL.path(percentEncoded: false)
        let files = FileManager.default.enumerator(atPath: sources)?.compactMap { $0 as? String }
        // Programs to copy from have no part in what only this package can use.
        let own = (files ?? []).filter {
            $0.hasSuffix(".swift") && !$0.hasPrefix("Wording/") && !$0.hasPrefix("Examples/")
        }
        #expect(own.count > 500)
        // Such as `count == 1 ? "key" : "keys"`.
        let choice = /== 1 \? "[a-z ]*" : "[a-z ]+"/
        for file in own {
            let text = try String(contentsOfFile: sources + "/" + file, encoding: .utf8)
            let found = text.firstMatch(of: choice)
            #expect(found == nil, "\(file): \(found?.output ?? "")")
        }
    }
}
