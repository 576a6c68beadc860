import DefaultsRoaming
import Foundation
import TestSupport
import TestTiers
import Testing

@testable import RoamingDirectory

@Suite("The memory that files take", .startsPrograms, .serialized)
struct MemoryTests {
    private static let newline = Data([UInt8(ascii: "\n")])

    /// How much more memory this process has at some moment of a call than before it.
    ///
    /// Nothing else may run in the process meanwhile.
    private static func growth(_ body: () async throws -> Void) async throws -> Int {
        // The kernel forgets the largest size.
        try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        let before = try kilobytes("VmRSS")
        try await body()
        return try (kilobytes("VmHWM") - before) << 10
    }

    private static func kilobytes(_ field: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(field) })
        return try #require(Int(line.split { !$0.isNumber }.first ?? ""))
    }

    private static func sealed(_ content: Data) -> [UInt8] {
        let start = HostileFileTests.header.map { $0 + "\n" }.joined()
        var bytes = Array(start.utf8)
        bytes += content
        return HostileFileTests.sealed(bytes)
    }

    @Test("are not many times the file, if it is nothing but line ends, spaces or words")
    func lines() async throws {
        // In a process of its own.
        await #expect(processExitsWith: .success) {
            let size = 8 << 20
            let contents = [
                Data(repeating: UInt8(ascii: "\n"), count: size),
                Data(repeating: UInt8(ascii: " "), count: size) + MemoryTests.newline,
                Data(repeating: UInt8(ascii: " "), count: 1 << 20) + MemoryTests.newline,
                Data(repeating: UInt8(ascii: "x"), count: size),
            ]
            for content in contents {
                let bytes = MemoryTests.sealed(content)
                let growth = try await MemoryTests.growth {
                    #expect(throws: FileFault.wrong(line: HostileFileTests.header.count + 1)) {
                        try ReplicaFile(bytes: bytes)
                    }
                }
                #expect(growth < 10 * size)
            }
        }
    }

    @Test("are those of one file, as the next one is read when it was used")
    func files() throws {
        let directory = try TemporaryDirectory()
        let folder = RoamingFolder(path: directory.path)
        for number in UInt8(1)...3 {
            try folder.write(
                ReplicaFile(
                    replica: FileFormatTests.replica(number), sequence: 1,
                    stamp: Array(repeating: 1, count: 16), content: 1, written: 1, name: "other",
                    batch: nil, joined: [:], forgotten: [], entries: []))
        }
        var names: [String] = []
        try folder.read(unless: { _, _ in false }) { finding in
            names.append(finding.name)
            try folder.removeFile(of: FileFormatTests.replica(2))
            return true
        }
        #expect(names == [1, 3].map { RoamingFolder.name(of: FileFormatTests.replica($0)) })
        try folder.read(unless: { _, _ in false }) { finding in
            names.append(finding.name)
            return false
        }
        #expect(names.count == 3)
    }

    @Test("are not compared with each other once for each, if a file has thousands of versions")
    func versions() async throws {
        let replicas = (0..<900).map { _ in ReplicaID.random() }
        var text = replicas.map { "forgotten \($0)\n" }.joined()
        for key in 0..<40 {
            text += "key a.b \(key + 100)\n"
            for replica in replicas { text += "removed \(replica) 1 -\n" }
        }
        let bytes = Self.sealed(Data(text.utf8))
        // Compared with each other, they would keep the machine busy for minutes.
        #expect(try ReplicaFile(bytes: bytes).entries.count == 40)
    }
}
