import DefaultsRoaming
import Testing

@testable import RoamingDirectory

@Suite("The file of a replica")
struct FileFormatTests {
    static let file = makeFile()

    static func makeFile() -> ReplicaFile {
        let (own, other) = (replica(1), replica(2))
        var first = ReplicaFile.Entry(
            RoamingKey(domain: "org.example.App", name: "a key\n100 % \u{7F}é"))
        first.heads = [
            Head(Dot(own, 7), time: .known(-5), archive: [0, 1, 2]),
            Head(Dot(other, 3), time: .unknown, archive: nil),
        ]
        var second = ReplicaFile.Entry(RoamingKey(domain: "org.example.App", name: "b"))
        second.covers.add(Dot(other, 4))
        second.heads = [Head(Dot(own, 8), time: .known(9), archive: [])]
        return ReplicaFile(
            replica: own, sequence: 12, stamp: Array(repeating: 9, count: 16), content: 11,
            written: 1_800_000_000_000_000, name: "my laptop",
            batch: (3, Array(repeating: 1, count: 16)),
            joined: [replica(3): 5], forgotten: [other], entries: [first, second])
    }

    static func replica(_ number: UInt8) -> ReplicaID {
        ReplicaID(bytes: Array(repeating: number, count: 16)) ?? .random()
    }

    @Test("has what was written")
    func roundTrip() throws {
        let bytes = Self.file.bytes
        let read = try ReplicaFile(bytes: bytes)
        #expect(read.bytes == bytes)
        #expect(read.entries == Self.file.entries)
        #expect(read.name == "my laptop")
        #expect(read.joined == [Self.replica(3): 5])
        #expect(read.batch?.number == 3)
    }

    @Test("is refused if it is cut anywhere")
    func halves() {
        let bytes = Self.file.bytes
        for count in 0..<bytes.count {
            #expect(throws: FileFault.incomplete) {
                try ReplicaFile(bytes: Array(bytes[..<count]))
            }
        }
    }

    @Test("is refused if a byte of it has changed")
    func changes() {
        for position in Self.file.bytes.indices {
            for bit in 0..<8 {
                var bytes = Self.file.bytes
                bytes[position] ^= 1 << UInt8(bit)
                // A first line that is damaged is not that of a later version.
                #expect(throws: FileFault.incomplete) { try ReplicaFile(bytes: bytes) }
            }
        }
    }

    // MARK: With a right hash

    /// Reads a file that differs from a valid one by a few bytes, and joins it if it is one.
    ///
    /// - Returns: Whether it is one.
    private static func use(_ content: [UInt8]) throws -> Bool {
        let file: ReplicaFile
        do {
            file = try ReplicaFile(bytes: HostileFileTests.sealed(content))
        } catch {
            return false
        }
        // What is written is what is read again.
        #expect(try ReplicaFile(bytes: file.bytes) == file)
        let state = try DirectoryState(path: ":memory:")
        try state.begin(as: replica(9), named: "reader")
        try state.time(at: .now, seen: file.latestTime)
        _ = try state.join(file)
        _ = try state.join(file)
        let page = try state.page(after: 0, limit: 1)
        try state.noteKept(page.losers)
        let edit = Edit(
            key: file.entries.first?.key ?? HostileFileTests.key, archive: nil, age: .zero,
            base: page.versions.first?.mark, earliest: page.versions.first?.time ?? .unknown)
        _ = try state.push(
            Batch(number: 1, nonce: Array(repeating: 1, count: 16), edits: [edit]),
            now: try state.time(at: .now))
        try state.settleOrphans()
        try state.maintain(onDay: 1)
        _ = try state.file(now: try state.time(at: .now)).bytes
        return true
    }

    /// The valid file without its last line.
    private static var content: [UInt8] { file.bytes.dropLast("end \n".utf8.count + 64) }

    @Test("is refused, or used, whichever byte of it has changed, although the hash is right")
    func rightHash() throws {
        let content = Self.content
        #expect(try Self.use(content))
        let others: [UInt8] = [0, 10, 32, 37, 45, 57, 97, 0x7F, 0x80, 0xFF]
        var used = 0
        for position in content.indices {
            var changed = content
            for byte in others + [content[position] ^ 1, content[position] &+ 1] {
                changed[position] = byte
                if try Self.use(changed) { used += 1 }
            }
        }
        // Digits, letters of names and archives, and the like.
        #expect(used > content.count / 4)
    }

    @Test("is refused, or used, if it is cut anywhere or a part of it is twice there")
    func parts() throws {
        let content = Self.content
        var answers: Set<Bool> = []
        for position in content.indices {
            answers.insert(try Self.use(Array(content[..<position])))
            answers.insert(try Self.use(Array(content[..<position]) + [10]))
            answers.insert(try Self.use(Array(content[..<position] + content[(position + 1)...])))
            answers.insert(
                try Self.use(
                    Array(
                        content[..<position] + content[position...].prefix(40)
                            + content[position...])
                ))
        }
        // Whole lines.
        let lines = content.split(separator: 10)
        for first in lines.indices {
            for second in lines.indices {
                var moved = lines
                moved.swapAt(first, second)
                answers.insert(try Self.use(Array(moved.joined(separator: [10])) + [10]))
                moved = lines
                moved.insert(lines[first], at: second)
                answers.insert(try Self.use(Array(moved.joined(separator: [10])) + [10]))
            }
        }
        #expect(answers == [true, false])
    }

    @Test("has numbers up to bounds that arithmetic never passes")
    func numbers() throws {
        let content = String(decoding: Self.content, as: UTF8.self)
        var answers: Set<Bool> = []
        let numbers = [
            "-9223372036854775809", "-9223372036854775808", "-4611686018427387905",
            "-4611686018427387904", "-1", "0", "4611686018427387903", "4611686018427387904",
            "4611686018427387905", "9223372036854775807", "9223372036854775808",
            "340282366920938463463374607431768211456",
        ]
        let lines = content.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            for (place, word) in words.enumerated() where Int(word) != nil {
                for number in numbers {
                    var (lines, words) = (lines, words)
                    words[place] = Substring(number)
                    lines[index] = Substring(words.joined(separator: " "))
                    answers.insert(try Self.use(Array(lines.joined(separator: "\n").utf8)))
                }
            }
        }
        #expect(answers == [true, false])
    }

    @Test("has a context that is read back, and a wrong one means nothing")
    func contexts() {
        var vector = VersionVector()
        vector.add(Dot(Self.replica(1), 5))
        vector.add(Dot(Self.replica(1), 3))
        vector.add(Dot(Self.replica(2), Dot.largestCounter))
        #expect(VersionVector(bytes: vector.bytes) == vector)
        #expect(vector.covers(Dot(Self.replica(1), 5)))
        #expect(!vector.covers(Dot(Self.replica(1), 6)))
        #expect(VersionVector(bytes: [1, 2, 3]) == VersionVector())
        let huge = [UInt8](repeating: 255, count: 24)
        #expect(VersionVector(bytes: huge) == VersionVector())
    }
}
