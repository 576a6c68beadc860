import Foundation
import KeyedArchive
import PropertyList
import TestSupport
import TestTiers
import Testing

@Suite("Archives of real programs", .startsPrograms)
struct FixtureTests {
    @Test("have the expected value form", arguments: Fixtures.keyed.filter(\.isBinary))
    func valueForm(of fixture: Fixtures.Fixture) throws {
        let archive = try KeyedArchive(validating: fixture.bytes)
        let expected = Array(try Data(contentsOf: fixture.expected))
        #expect(try Python.isSameJSON(try archive.json(), expected))
        #expect(try Python.isSameJSON(try archive.json(isPretty: true), expected))
    }

    @Test("keep their value form through JSON", arguments: Fixtures.keyed.filter(\.isBinary))
    func roundTrip(of fixture: Fixtures.Fixture) throws {
        let json = try KeyedArchive(validating: fixture.bytes).json()
        guard !String(decoding: json, as: UTF8.self).contains("$ref") else {
            #expect(throws: JSONError.self) { try KeyedArchive(json: json) }
            return
        }
        let again = try KeyedArchive(json: json)
        #expect(try again.json() == json)
        #expect(try KeyedArchive(json: again.json()).bytes == again.bytes)
    }

    @Test(
        "are refused in XML",
        arguments: (Fixtures.keyed + Fixtures.malformed).filter { !$0.isBinary })
    func xml(_ fixture: Fixtures.Fixture) {
        #expect(throws: ArchiveError.self) { try KeyedArchive(validating: fixture.bytes) }
    }

    @Test("are refused if they are malformed", arguments: Fixtures.malformed)
    func malformed(_ fixture: Fixtures.Fixture) {
        #expect(throws: ArchiveError.self) { try KeyedArchive(validating: fixture.bytes) }
    }

    @Test("are not confused with other lists", arguments: Fixtures.notKeyed.filter(\.isBinary))
    func notKeyed(_ fixture: Fixtures.Fixture) throws {
        _ = try PropertyList(fixture.bytes)
        let error = #expect(throws: ArchiveError.self) {
            try KeyedArchive(validating: fixture.bytes)
        }
        #expect(error?.code == .notKeyedArchive)
    }
}
