import Foundation
import Glibc
import SystemCalls
import TestSupport
import Testing

@testable import DefaultsCore
@testable import DefaultsService

/// Entries of the journal, and the catalog that explains them.
@Suite struct JournalTests {
    private static let package = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    @Test func `The catalog explains each event, and nothing else`() throws {
        let catalog = Self.package.appending(path: "systemd/defaultsd.catalog")
        let text = try String(contentsOf: catalog, encoding: .utf8)
        let explained = text.matches(of: /(?m)^-- ([0-9a-f]{32})$/).map { String($0.1) }
        #expect(explained.sorted() == JournalMessage.allCases.map(\.rawValue).sorted())
    }

    @Test func `A value with a line break has its size before it`() {
        let bytes = JournalSocket.bytes(of: [("MESSAGE", "a\nb"), ("PRIORITY", "4")])
        let expected =
            Array("MESSAGE\n".utf8) + [3, 0, 0, 0, 0, 0, 0, 0] + "a\nb\nPRIORITY=4\n".utf8
        #expect(bytes == expected)
    }

    @Test func `An entry is one datagram, and a journal that does not read delays nothing`() throws
    {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/socket"
        let address = try #require(UnixSocketAddress(path: path))
        let receiver = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(receiver) }
        #expect(address.withPointer { bind(receiver, $0, $1) } == 0)
        let journal = try #require(JournalSocket(path: path))
        #expect(journal.send([("MESSAGE", "first")]))
        // The queue of the receiver is full after some datagrams.
        while journal.send([("MESSAGE", "more")]) {}
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = recv(receiver, &buffer, buffer.count, 0)
        #expect(buffer.prefix(max(0, count)) == Array("MESSAGE=first\n".utf8)[...])
    }
}
