import DefaultsRoaming
import Foundation
import Glibc
import RoamingDirectory
import Testing

/// The one file that all machines need and that belongs to none of them.
@Suite("The marker of a directory")
struct MarkerTests {
    private static let key = PlaceTests.key

    /// Two machines that have met, with a value of one of them.
    private let network: Network
    private let marker: [UInt8]

    init() async throws {
        network = try Network(2)
        network.devices[0].write("first", to: Self.key)
        for _ in 0..<2 {
            for device in network.devices {
                try await device.round()
                try network.synchronize()
            }
        }
        marker = try Array(Data(contentsOf: Self.path(network.devices[0])))
    }

    private static func path(_ device: Device) -> URL {
        URL(filePath: "\(device.directory)/defaultsd-roam")
    }

    /// Does something to the file on all machines, as the synchroniser copies it, and checks that they go
    /// on, that the file is as it was, and that a new machine can join.
    private func expectWrittenAgain(
        _ what: String, after damage: (_ path: String) throws -> Void
    ) async throws {
        for device in network.devices {
            try? FileManager.default.removeItem(at: Self.path(device))
            try damage(Self.path(device).path(percentEncoded: false))
        }
        let (writer, reader) = (network.devices[0], network.devices[1])
        writer.write(what, to: Self.key)
        for device in [writer, reader] {
            let meeting = try await device.meet()
            #expect(meeting.state == .continued, "\(what)")
            #expect(try Array(Data(contentsOf: Self.path(device))) == marker, "\(what)")
        }
        try await writer.round()
        try network.synchronize()
        try await reader.round()
        #expect(reader.value(of: Self.key) == what)
    }

    @Test("is written again if a byte of it is damaged, by each machine that has met there")
    func damagedByte() async throws {
        var repaired = 0
        for position in marker.indices {
            for bit in 0..<8 {
                var damaged = marker
                damaged[position] ^= 1 << UInt8(bit)
                let text = String(decoding: damaged, as: UTF8.self)
                guard Self.place(in: text) == nil else { continue }
                try await expectWrittenAgain("bit \(bit) of byte \(position)") {
                    try Data(damaged).write(to: URL(filePath: $0))
                }
                repaired += 1
            }
        }
        #expect(repaired > 4 * marker.count)
    }

    private static func place(in text: String) -> ReplicaID? {
        let line = "defaultsd-roam place "
        guard text.hasPrefix(line), text.hasSuffix("\n") else { return nil }
        return ReplicaID(text.dropFirst(line.count).dropLast())
    }

    @Test("is written again if it is cut anywhere, or is not a file with one line")
    func cut() async throws {
        for count in 0..<marker.count {
            let half = Data(marker.prefix(count))
            try await expectWrittenAgain("\(count) bytes") { try half.write(to: URL(filePath: $0)) }
        }
        let twice = Data(marker + marker)
        try await expectWrittenAgain("twice") { try twice.write(to: URL(filePath: $0)) }
        let large = Data(repeating: 0, count: 1 << 16)
        try await expectWrittenAgain("large") { try large.write(to: URL(filePath: $0)) }
        try await expectWrittenAgain("a pipe") { mkfifo($0, 0o600) }
        try await expectWrittenAgain("a link") {
            try FileManager.default.createSymbolicLink(atPath: $0, withDestinationPath: "/dev/zero")
        }
    }

    @Test("is written again if it was removed, and a file of a known machine is there")
    func removed() async throws {
        try await expectWrittenAgain("gone") { _ in }
        for device in network.devices {
            try FileManager.default.removeItem(atPath: device.file)
        }
        try await expectWrittenAgain("with the own files") { _ in }
    }

    @Test("is not written into a directory that has only files of strangers")
    func strangers() async throws {
        let device = network.devices[0]
        for name in try network.names(of: device) {
            try FileManager.default.removeItem(atPath: "\(device.directory)/\(name)")
        }
        let stranger = HostileFileTests.sealed(HostileFileTests.header)
        try network.put(Data(stranger), as: HostileFileTests.name, on: device)
        await #expect(throws: EngineError.self) { try await device.meet() }
        #expect(try network.names(of: device) == [HostileFileTests.name])
    }

    @Test("that is damaged is not guessed by a new machine, which waits for another one")
    func newcomer() async throws {
        let newcomer = try network.addDevice()
        for device in network.devices {
            try network.put(Data("defaultsd-roam plac".utf8), as: "defaultsd-roam", on: device)
        }
        let error = await #expect(throws: EngineError.self) { try await newcomer.meet() }
        #expect(error?.kind == .unreachable)
        #expect(error?.description.contains("A machine that roams here already") == true)
        try await network.devices[1].round()
        // Its marker is copied to all.
        try network.synchronize([network.devices[1], network.devices[0], newcomer])
        try await newcomer.round()
        #expect(newcomer.value(of: Self.key) == "first")
    }

    @Test("whose damage makes another name of it costs no value")
    func otherName() async throws {
        network.devices[1].write("removed", to: LifeOfReplicaTests.second)
        try await network.settle()
        network.devices[0].write(nil, to: LifeOfReplicaTests.second)
        try await network.settle()
        var damaged = marker
        let digit = try #require(damaged.lastIndex { (0x30...0x39).contains($0) })
        damaged[digit] ^= 1
        for device in network.devices {
            try network.put(Data(damaged), as: "defaultsd-roam", on: device)
            #expect(try await device.meet().state == .rewound)
        }
        try await network.settle()
        for device in network.devices {
            #expect(try await device.meet().state == .continued)
            #expect(try await device.shown() == [Self.key: "first"])
        }
    }
}
