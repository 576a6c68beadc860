import Foundation
import KeyedArchive
import Testing

@Suite("A decoder")
struct CodingPatienceTests {
    /// Takes whatever comes, and tries one type after the other.
    private indirect enum Anything: Decodable, Equatable {
        case null
        case number(Int)
        case text(String)
        case list([Anything])
        case table([String: Anything])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let number = try? container.decode(Int.self) {
                self = .number(number)
            } else if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let list = try? container.decode([Anything].self) {
                self = .list(list)
            } else {
                self = .table(try container.decode([String: Anything].self))
            }
        }
    }

    @Test("gives a type that tries everything the value")
    func anything() throws {
        let archive = try KeyedArchive(json: #"[1,"a",[],{"k":[2]},null]"#)
        #expect(
            try KeyedArchiveDecoder().decode(Anything.self, from: archive)
                == .list([
                    .number(1), .text("a"), .list([]), .table(["k": .list([.number(2)])]), .null,
                ]))
    }

    @Test(
        "ends if a type tries everything at each of too many levels", arguments: [300, 900])
    func tooManyLevels(_ depth: Int) throws {
        let json = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let error = #expect(throws: DecodingError.self) {
            try KeyedArchiveDecoder().decode(Anything.self, from: KeyedArchive(json: json))
        }
        #expect(error.map { "\($0)".contains("nested deeper than 512 levels") } == true)
    }

    @Test(
        "finds no dictionary in arrays and sets",
        arguments: ["[1,2]", #"{"$class":"NSSet","NS.objects":[1]}"#])
    func noDictionary(_ json: String) throws {
        #expect(throws: DecodingError.self) {
            try KeyedArchiveDecoder().decode([String: [Int]].self, from: KeyedArchive(json: json))
        }
    }

    private class Base: Codable, ArchiveVersioned {
        class var archiveVersion: Int { 1 }
        var name = "base"
    }

    private final class Derived: Base {
        override class var archiveVersion: Int { 2 }
    }

    @Test("accepts a subclass's object for its superclass, whatever the subclass's version")
    func versions() throws {
        let archive = try KeyedArchiveEncoder().encode(Derived())
        #expect(try KeyedArchiveDecoder().decode(Base.self, from: archive).name == "base")
        #expect(try KeyedArchiveDecoder().decode(Derived.self, from: archive).name == "base")
    }

    @Test("joins URLs that are each other's bases, but not endlessly")
    func bases() throws {
        var json = #"{"$class":"NSURL","NS.base":null,"NS.relative":"http://example.org/"}"#
        for _ in 0..<10 { json = #"{"$class":"NSURL","NS.base":\#(json),"NS.relative":"x/"}"# }
        let url = try KeyedArchiveDecoder().decode(URL.self, from: KeyedArchive(json: json))
        #expect(url.absoluteString.hasPrefix("http://example.org/x/"))
        for _ in 0..<10 { json = #"{"$class":"NSURL","NS.base":\#(json),"NS.relative":"x/"}"# }
        let error = #expect(throws: DecodingError.self) {
            try KeyedArchiveDecoder().decode(URL.self, from: KeyedArchive(json: json))
        }
        #expect(error.map { "\($0)".contains("more than 16 bases") } == true)
    }
}
