import ArchiveTestSupport
import Dispatch
import Foundation
import ArchiveInspection
import KeyedArchive
import PropertyList
import TestSupport
import Testing

@Suite("Bytes of any kind")
struct RobustnessTests {
    /// Reads bytes and, if they are an archive, shows it, compares it and, if it is small,
    /// writes it again.
    @discardableResult
    static func tryEverything(_ bytes: [UInt8], like original: KeyedArchive?) -> Bool {
        guard let archive = try? KeyedArchive(validating: bytes) else { return false }
        _ = original.map { archive.isSame(as: $0) }
        let limits = ValueFormLimits(size: 1 << 14, depth: 1000)
        if let json = try? archive.json(limits: limits), json.count < 500,
            let again = try? KeyedArchive(json: json)
        {
            _ = again.isSame(as: archive)
        }
        return true
    }

    static let own: [[UInt8]] =
        RenderingTests.objects.map(\.bytes)
        + RenderingTests.collections.map(\.bytes)
        + SamenessTests.same.map(\.left)

    @Test("are an error or a value, cut at any byte", arguments: Fixtures.all)
    func cut(_ fixture: Fixtures.Fixture) {
        for count in Thoroughness.places(in: fixture.bytes.count) {
            Self.tryEverything(Array(fixture.bytes.prefix(count)), like: nil)
        }
    }

    @Test("are an error or a value, with any byte changed", arguments: Fixtures.all)
    func changed(_ fixture: Fixtures.Fixture) {
        let original = try? KeyedArchive(validating: fixture.bytes)
        let changes: [UInt8] = fixture.bytes.count < 1000 ? [0x01, 0x10, 0x80, 0xFF] : [0x11]
        for position in Thoroughness.places(in: fixture.bytes.count) {
            for change in changes {
                var bytes = fixture.bytes
                bytes[position] ^= change
                Self.tryEverything(bytes, like: original)
            }
        }
    }

    @Test("are a value, even if an inline key of a dictionary looks like an object")
    func inlineKey() throws {
        for key in [["$class": 5, "NS.string": "x"], ["$class": .uid(1), "a": 1]] as [Tree] {
            let bytes = Tree.archive(
                ["$class": .uid(2), "NS.keys": [key], "NS.objects": [1]],
                Tree.record("NSDictionary"))
            let archive = try KeyedArchive(validating: bytes)
            #expect(try archive.json().text.contains(#""NS.keys":["#))
            #expect(archive.isSame(as: archive))
            var tree = ArchiveTree(of: archive, options: InspectionOptions())
            var lineCount = 0
            while try tree.next() != nil { lineCount += 1 }
            #expect(lineCount > 2)
        }
    }

    @Test("are an error or a value, put together by hand and cut or changed anywhere")
    func handmade() throws {
        for bytes in Self.own {
            let original = try KeyedArchive(validating: bytes)
            for position in Thoroughness.places(in: bytes.count) {
                Self.tryEverything(Array(bytes.prefix(position)), like: original)
                for change in [0x01, 0x0F, 0x10, 0xFF] as [UInt8] {
                    var changed = bytes
                    changed[position] ^= change
                    Self.tryEverything(changed, like: original)
                }
            }
        }
    }

    @Test("are an error or a value, changed in many places at once")
    func fuzz() throws {
        var random = SeededGenerator()
        var passed = 0
        let runs = Thoroughness.tries(20_000)
        for _ in 0..<runs {
            let seed = Self.own[Int(random.next() % UInt64(Self.own.count))]
            var bytes = seed
            for _ in 0...random.next() % 3 {
                let position = Int(random.next() % UInt64(bytes.count))
                bytes[position] ^= 1 << UInt8(random.next() % 8)
            }
            if Self.tryEverything(bytes, like: try KeyedArchive(validating: seed)) { passed += 1 }
        }
        // Where none or all passed, the changes would test nothing.
        #expect(passed > runs / 20 && passed < runs * 19 / 20)
    }

    @Test("of JSON are an error or a value, cut or changed anywhere")
    func json() {
        let json = Array(
            #"{"a":[1,-2.5e3,true,null],"$class":"é\n\ud83d\ude00","b":{"$data":"AQ=="}}"#.utf8)
        for position in json.indices {
            _ = try? KeyedArchive(json: Array(json.prefix(position)))
            for byte in UInt8.min...UInt8.max {
                var changed = json
                changed[position] = byte
                if let archive = try? KeyedArchive(json: changed) {
                    #expect(throws: Never.self) { try archive.json() }
                }
            }
        }
    }
}

@Suite("A small stack")
struct StackTests {
    /// Runs a body on a thread with 512 KiB of stack, to its end.
    private func onSmallStack(_ body: @escaping @Sendable () -> Void) {
        let end = DispatchSemaphore(value: 0)
        let thread = Thread {
            body()
            end.signal()
        }
        thread.stackSize = 512 << 10
        thread.start()
        end.wait()
    }

    @Test("is enough for 100 000 nested arrays")
    func deepArrays() {
        onSmallStack {
            let depth = 100_000
            var builder = ValueFormBuilder(limits: ValueFormLimits(size: 1 << 30, depth: depth))
            #expect(throws: Never.self) {
                for _ in 0..<depth { try builder.beginArray() }
                for _ in 0..<depth { try builder.endArray() }
            }
            let archive = builder.finish()
            var padded = archive.bytes
            padded[padded.count - 32] = 1
            #expect(throws: Never.self) {
                let other = try KeyedArchive(validating: padded)
                #expect(archive.isSame(as: other))
                let limits = ValueFormLimits(size: 1 << 30, depth: depth)
                let json = try archive.json(limits: limits)
                #expect(json.count == 2 * depth)
                #expect(try KeyedArchive(json: json, limits: limits).bytes == archive.bytes)
            }
            #expect(throws: ArchiveError.self) { try archive.json() }
            #expect(throws: JSONError.self) {
                try KeyedArchive(json: String(repeating: "[", count: depth))
            }
        }
    }

    @Test("is enough for nested property list arrays, which are refused")
    func deepInlineArrays() {
        onSmallStack {
            var writer = PropertyListWriter()
            var inner = writer.add(array: [])
            for _ in 0..<100_000 { inner = writer.add(array: [inner]) }
            let bytes = writer.finish(root: inner)
            #expect(throws: PropertyListError.self) { try PropertyList(bytes) }
            let limits = PropertyList.Limits(
                byteCount: .max, objectCount: .max, depth: 100_001)
            #expect(throws: Never.self) { try PropertyList(bytes, limits: limits) }
        }
    }
}
