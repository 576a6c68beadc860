import DefaultsRoaming
import RoamingDirectory
import Testing

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
            var bytes = Self.file.bytes
            bytes[position] ^= 1
            #expect(throws: FileFault.self) { try ReplicaFile(bytes: bytes) }
        }
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
