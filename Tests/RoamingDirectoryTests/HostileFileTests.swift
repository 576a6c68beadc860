import DefaultsRoaming
import Foundation
import Glibc
import RoamingDirectory
import Testing

@Suite("A file that no replica has written")
struct HostileFileTests {
    static let key = RoamingKey(domain: "org.example.App", name: "key")
    static let stranger = FileFormatTests.replica(7)
    static let name = "\(stranger).roam"

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Puts it there.
        let make: @Sendable (_ path: String) throws -> Void

        init(_ name: String, _ make: @escaping @Sendable (String) throws -> Void) {
            testDescription = name
            self.make = make
        }

        /// A file with these lines and a right end.
        init(_ name: String, lines: String...) {
            self.init(name) { path in
                try Data(HostileFileTests.sealed(HostileFileTests.header + lines)).write(
                    to: URL(filePath: path))
            }
        }
    }

    static let header = [
        "defaultsd-roam 1", "replica \(stranger)", "sequence 5",
        "stamp 00112233445566778899aabbccddeeff", "content 5", "written 5", "name stranger",
    ]

    static func sealed(_ lines: [String]) -> [UInt8] {
        sealed(Array(lines.map { $0 + "\n" }.joined().utf8))
    }

    /// A file with this content and a right end.
    static func sealed(_ content: [UInt8]) -> [UInt8] {
        let hash = Blake2b.hash(of: content)
            .map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
        return content + "end \(hash)\n".utf8
    }

    static let cases: [Case] = [
        Case("is a link") {
            try FileManager.default.createSymbolicLink(atPath: $0, withDestinationPath: "/dev/zero")
        },
        Case("is a pipe") { mkfifo($0, 0o600) },
        Case("is a directory") { mkdir($0, 0o700) },
        Case("is empty") { try Data().write(to: URL(filePath: $0)) },
        Case("is too large") { path in
            try Data().write(to: URL(filePath: path))
            truncate(path, off_t(FileLimits.size + 1))
        },
        Case("is of a later version") { path in
            try Data(sealed(["defaultsd-roam 2", "something else"])).write(to: URL(filePath: path))
        },
        Case("has no hash") { path in
            try Data("defaultsd-roam 1\nreplica \(stranger)\n".utf8).write(to: URL(filePath: path))
        },
        Case("is the file of another replica") { path in
            try Data(FileFormatTests.file.bytes).write(to: URL(filePath: path))
        },
        Case("has an unknown word", lines: "nonsense 1"),
        Case("has a name that would control a terminal") { path in
            let lines = header.dropLast() + ["name %1B[2J"]
            try Data(sealed(Array(lines))).write(to: URL(filePath: path))
        },
        Case("has a number twice", lines: "sequence 6"),
        Case("has an empty line", lines: "", "key a a"),
        Case("has a domain that is none", lines: "key ../../etc key"),
        Case("has a key that is none", lines: "key org.example.App "),
        Case("has a key with a NUL", lines: "key org.example.App a%00"),
        Case("has a key twice", lines: "key org.example.App a", "key org.example.App a"),
        Case("has a version without a key", lines: "set \(stranger) 1 - AAAA"),
        Case(
            "has a number that jumps", lines: "key a a",
            "set \(stranger) 9223372036854775807 - AAAA"),
        Case("has a negative number", lines: "key a a", "set \(stranger) -1 - AAAA"),
        Case("has a number too large", lines: "key a a", "covers \(stranger) 99999999999999999999"),
        Case("has a value that is none", lines: "key a a", "set \(stranger) 1 - A"),
        Case("has a time that is none", lines: "key a a", "set \(stranger) 1 soon AAAA"),
        Case(
            "has a version of a replica that was not forgotten",
            lines: "key a a", "set \(FileFormatTests.replica(8)) 1 - AAAA"),
        Case("forgets itself", lines: "forgotten \(stranger)"),
        Case("knows thousands of replicas") { path in
            let lines = (0...FileLimits.replicas).map { _ in "joined \(ReplicaID.random()) 1" }
            try Data(sealed(header + lines)).write(to: URL(filePath: path))
        },
        Case("has a context of thousands of replicas") { path in
            let lines = (0...FileLimits.replicas).map { _ in "covers \(ReplicaID.random()) 1" }
            try Data(sealed(header + ["key a a"] + lines)).write(to: URL(filePath: path))
        },
    ]

    @Test("is told of, and all other files count", arguments: cases)
    func hostile(_ value: Case) async throws {
        let network = try Network(2)
        let (device, other) = (network.devices[0], network.devices[1])
        try value.make("\(device.directory)/\(Self.name)")
        // Its marker comes from the other machine.
        try await other.round()
        other.write("theirs", to: Self.key)
        try await other.round()
        try network.synchronize()
        try await device.round()
        #expect(await device.engine.fileProblems.map(\.name) == [Self.name])
        #expect(device.value(of: Self.key) == "theirs")
        #expect(try await device.engine.machines().count == 2)
    }

    @Test("and is right counts, and is told of no more")
    func repaired() async throws {
        let network = try Network(1)
        let device = network.devices[0]
        try await device.round()
        let path = URL(filePath: "\(device.directory)/\(Self.name)")
        let lines = ["key org.example.App key", "set \(Self.stranger) 1 5 aGk="]
        try Data(Self.sealed(Self.header + lines).dropLast()).write(to: path)
        try await device.round()
        let sentence = "'\(Self.name)' is incomplete or damaged."
        let engine: any Engine = device.engine
        #expect(await engine.problems == [sentence])
        let sealed = SealedEngine(engine, on: network.loop) { _ in .random() }
        #expect(await sealed.problems == [sentence])
        try Data(Self.sealed(Self.header + lines)).write(to: path)
        try await device.round()
        #expect(await device.engine.problems.isEmpty)
        #expect(device.value(of: Self.key) == "hi")
    }

    @Test("with a time of the future is replaced by the next edit of a writer who knows it")
    func future() async throws {
        let network = try Network(1)
        let device = network.devices[0]
        try await device.round()
        let time = network.clock.now + 400 * TestClock.day
        let lines = ["key org.example.App key", "set \(Self.stranger) 1 \(time) aGk="]
        try network.put(Data(Self.sealed(Self.header + lines)), as: Self.name, on: device)
        try await device.round()
        device.write("mine", to: Self.key)
        try await device.round()
        #expect(try await device.shown() == [Self.key: "mine"])
        #expect(device.bases[Self.key]?.time == .known(time))
    }

    @Test("in a later form is not overwritten if it has this replica's name")
    func ownLaterVersion() async throws {
        let network = try Network(1)
        let device = network.devices[0]
        try await device.round()
        let bytes = Data(Self.sealed(["defaultsd-roam 2", "something else"]))
        try network.put(bytes, as: "\(device.id).roam", on: device)
        await #expect(throws: EngineError.self) { try await device.meet() }
        #expect(FileManager.default.contents(atPath: device.file) == bytes)
    }

    @Test("though any byte of it is damaged, does not keep this replica from writing its own")
    func ownDamage() async throws {
        let network = try Network(1)
        let device = network.devices[0]
        device.write("mine", to: Self.key)
        try await device.round()
        let own = try Array(Data(contentsOf: URL(filePath: device.file)))
        for position in own.indices {
            var damaged = own
            damaged[position] ^= 1 << UInt8(position % 8)
            try network.put(Data(damaged), as: "\(device.id).roam", on: device)
            try await device.meet()
            let data = try #require(FileManager.default.contents(atPath: device.file))
            #expect(try ReplicaFile(bytes: Array(data)).entries.map(\.key) == [Self.key])
        }
        #expect(device.joins == 0)
    }

    @Test("does not keep this replica from writing its own")
    func ownPipe() async throws {
        let network = try Network(1)
        let device = network.devices[0]
        try await device.round()
        try FileManager.default.removeItem(atPath: device.file)
        mkfifo(device.file, 0o600)
        try await device.round()
        let data = try #require(FileManager.default.contents(atPath: device.file))
        #expect(try ReplicaFile(bytes: Array(data)).replica == device.id)
    }
}
