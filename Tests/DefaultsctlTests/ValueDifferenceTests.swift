import KeyedArchive
import Testing

@testable import ValuePaths
@testable import defaultsctl

@Suite("The difference of two values") struct ValueDifferenceTests {
    /// The parts as `path: old -> new`; nil if only the whole values can be compared.
    private func difference(_ was: String, _ became: String) throws -> [String]? {
        try ValueDifference.parts(
            of: KeyedArchive(json: was), and: KeyedArchive(json: became)
        )?.map { part in
            let (old, new) = (try part.was?.jsonText(), try part.became?.jsonText())
            return "\(part.path): \(old ?? "-") -> \(new ?? "-")"
        }
    }

    @Test("names only the parts that differ, by their paths")
    func parts() throws {
        #expect(
            try difference(
                #"{"a":1,"audio":{"mute":false,"volume":0.5},"list":[1,{"x":1}],"old":"x"}"#,
                #"{"a":1,"audio":{"mute":true,"volume":0.5},"list":[1,{"x":2}],"new":[]}"#)
                == [
                    "audio.mute: false -> true", "list[1].x: 1 -> 2", "new: - -> []",
                    "old: \"x\" -> -",
                ])
    }

    @Test("is that of whole lists if they have another number of elements")
    func lists() throws {
        #expect(try difference(#"{"l":[1,2]}"#, #"{"l":[1,2,3]}"#) == ["l: [1,2] -> [1,2,3]"])
        #expect(try difference("[1,2]", "[1,3]") == ["[1]: 2 -> 3"])
    }

    @Test("is none for scalars, and for values of different kinds")
    func whole() throws {
        #expect(try difference("1", "2") == nil)
        #expect(try difference("{}", "[]") == nil)
        #expect(try difference("[1]", "[1,2]") == nil)
        #expect(try difference(#"{"a":1}"#, #"{"a":1}"#) == [])
    }

    @Test("tells numbers, booleans and texts of the same spelling apart")
    func types() throws {
        #expect(
            try difference(#"{"a":1,"b":1,"c":1}"#, #"{"a":true,"b":"1","c":1.0}"#)
                == ["a: 1 -> true", "b: 1 -> \"1\"", "c: 1 -> 1.0"])
    }

    @Test("is that of whole objects if they have other classes, and of their dates")
    func objects() throws {
        let (one, other) = (
            #"{"o":{"$class":"One","x":1},"d":{"$class":"NSDate","NS.time":0.0}}"#,
            #"{"o":{"$class":"Other","x":1},"d":{"$class":"NSDate","NS.time":1.0}}"#
        )
        let parts = try #require(
            try ValueDifference.parts(
                of: KeyedArchive(json: one), and: KeyedArchive(json: other)))
        #expect(parts.map(\.path.description) == ["d", "o"])
    }

    @Test("of values that are nested deeply is not made in parts")
    func deep() throws {
        func nested(_ value: String) -> String {
            String(repeating: "[", count: 100) + value + String(repeating: "]", count: 100)
        }
        #expect(try difference(nested("1"), nested("2")) == nil)
    }
}
