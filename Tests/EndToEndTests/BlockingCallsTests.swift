import Foundation
import TestTiers
import Testing

/// Functions of libdbus and GLib that wait.
///
/// While libdbus waits for a bus it holds a lock that all connections of the process to buses need, those
/// of other libraries too.
@Suite(.startsPrograms) struct BlockingCallsTests {
    private static let package = URL(filePath: Desktop.packageDirectory)

    /// The functions that wait: for a reply, for room, for a bus, for a host or for a program.
    private static let forbidden = [
        "dbus_bus_[a-z_]+", "dbus_connection_open", "dbus_connection_open_private",
        "dbus_connection_send_with_reply_and_block", "dbus_pending_call_block",
        "dbus_connection_flush", "dbus_connection_read_write",
        "dbus_connection_read_write_dispatch",
        "dbus_connection_pop_message", "dbus_connection_borrow_message",
        "g_bus_[a-z_]+", "g_dbus_[a-z_]+_sync",
    ]

    /// Where one of them is needed, and does not wait for a bus.
    private static let exceptions = [
        // To a socket of the process itself, or on a thread that has nothing else to do.
        "Sources/DBus/Interop/Link+Joining.swift: dbus_connection_open_private"
    ]

    /// Programs of tests that do nothing else, and what names the functions.
    private static let programs = [
        "Tests/Bench/c/", "Tests/Torture/c/", "Tests/PageReader/",
        "Tests/EndToEndTests/BlockingCallsTests.swift",
    ]

    /// The uses of the functions in the lines of a text, without comments.
    private static func uses(in text: String) throws -> [String] {
        let name = try Regex<(Substring, Substring)>(
            #"\b(\#(forbidden.joined(separator: "|")))\b"#)
        return text.split(separator: "\n").filter { line in
            let line = line.drop { $0 == " " }
            return !line.hasPrefix("//") && !line.hasPrefix("*") && !line.hasPrefix("/*")
        }.flatMap { line in line.matches(of: name).map { String($0.1) } }
    }

    private static func uses(below folder: String) throws -> Set<String> {
        let files = FileManager.default.enumerator(atPath: package.appending(path: folder).path())
        let sources = (files ?? .init()).compactMap { $0 as? String }.filter {
            $0.hasSuffix(".swift") || $0.hasSuffix(".c") || $0.hasSuffix(".h")
        }
        try #require(sources.count > 100, "\(folder) has \(sources.count) files.")
        var found: Set<String> = []
        for path in sources.map({ "\(folder)/\($0)" })
        where !programs.contains(where: path.hasPrefix) {
            let text = try String(contentsOf: package.appending(path: path), encoding: .utf8)
            for use in try uses(in: text) { found.insert("\(path): \(use)") }
        }
        return found
    }

    @Test func `No source and no test waits for a bus`() throws {
        let found = try Self.uses(below: "Sources").union(Self.uses(below: "Tests"))
        #expect(found.sorted() == Self.exceptions)
    }

    @Test(arguments: [
        ("    _ = dbus_bus_register(opened, &error)", ["dbus_bus_register"]),
        (
            "dbus_connection_flush(bus); dbus_bus_get(DBUS_BUS_SESSION, NULL);",
            ["dbus_connection_flush", "dbus_bus_get"]
        ),
        (
            "case .session: try checkError { dbus_bus_get_private(DBUS_BUS_SESSION, $0) }",
            ["dbus_bus_get_private"]
        ),
        (
            "reply = dbus_connection_send_with_reply_and_block(",
            ["dbus_connection_send_with_reply_and_block"]
        ),
        (
            "let dispatch = dbus_connection_read_write_dispatch",
            ["dbus_connection_read_write_dispatch"]
        ),
        ("GVariant *reply = g_dbus_connection_call_sync(bus", ["g_dbus_connection_call_sync"]),
        ("// dbus_bus_register waits", []), ("    /// `dbus_connection_flush`", []),
        ("dbus_connection_close(opened)", []), ("my_dbus_bus_get()", []),
    ])
    func `Each of them is found`(line: String, names: [String]) throws {
        #expect(try Self.uses(in: line) == names)
    }
}
