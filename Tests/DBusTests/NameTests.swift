import CDBus
import DBus
import TestTiers
import Testing

/// The oracle is libdbus: it ends the process for a name that it does not accept itself.
@Suite(.startsPrograms) struct NameTests {
    static let candidates: [String] = [
        "", ".", "a", "a.b", "a.b.c", ".a.b", "a..b", "a.b.", "a.1b", "1a.b", "a-b.c", "a.b-c",
        "_._",
        ":", ":1", ":1.2", ":1.", ":.1", ":a.b-c", ":1..2", "a:b.c", "é.b", "a.b c", "a.b\n",
        "/", "//", "/a", "/a/", "/a/b", "/a//b", "a/b", "/1/2", "/a-b", "/_", "/é", "/a.b",
        "Get", "Get2", "2Get", "Get_", "Get-", "org.freedesktop.DBus",
        String(repeating: "a", count: 255), String(repeating: "a", count: 256),
        "a." + String(repeating: "b", count: 253), "a." + String(repeating: "b", count: 254),
        ":1." + String(repeating: "2", count: 252), ":1." + String(repeating: "2", count: 253),
        "/" + String(repeating: "a", count: 1000),
    ]

    @Test(arguments: candidates)
    func `A name is valid if libdbus says so`(_ name: String) {
        let isBusName = (try? BusName(name)) != nil
        // Of a unique name libdbus only looks at the characters; the specification has more to say.
        if isBusName || !name.hasPrefix(":") {
            #expect(isBusName == (dbus_validate_bus_name(name, nil) != 0))
        }
        #expect(((try? InterfaceName(name)) != nil) == (dbus_validate_interface(name, nil) != 0))
        #expect(((try? ErrorName(name)) != nil) == (dbus_validate_error_name(name, nil) != 0))
        #expect(((try? MemberName(name)) != nil) == (dbus_validate_member(name, nil) != 0))
        #expect(((try? ObjectPath(name)) != nil) == (dbus_validate_path(name, nil) != 0))
    }

    @Test func `Short names of every character agree with libdbus`() {
        for first in UInt8(1)...127 {
            for text in ["\(Unicode.Scalar(first))", "a\(Unicode.Scalar(first))b.c"] {
                `A name is valid if libdbus says so`(text)
                `A name is valid if libdbus says so`("/" + text)
                `A name is valid if libdbus says so`(":" + text)
            }
        }
    }

    @Test func `Text after a NUL character is checked too`() {
        // A literal would be taken for one of the program's own names, and trap.
        let (name, path, member, signature) = ("a.b\0", "/a\0/b", "Get\0", "s\0s")
        #expect(throws: DBusError.self) { try BusName(name) }
        #expect(throws: DBusError.self) { try ObjectPath(path) }
        #expect(throws: DBusError.self) { try MemberName(member) }
        #expect(throws: DBusError.self) { try Signature(signature) }
    }

    @Test func `A literal that is not a name is our own mistake and traps`() async {
        await #expect(processExitsWith: .failure) { _ = BusName(stringLiteral: "a") }
        await #expect(processExitsWith: .failure) { _ = Signature(stringLiteral: "()") }
    }

    @Test(arguments: [
        ("", "is not a bus name: it has no '.'."), ("a", "is not a bus name: it has no '.'."),
        ("a..b", "is not a bus name: an element of it is empty."),
        ("a.1", "is not a bus name: an element of it begins with a digit."),
        (
            "a.b c",
            "is not a bus name: it holds a character other than A-Z, a-z, 0-9, - and _."
        ),
    ])
    func `An error quotes the name and says what is wrong`(_ name: String, _ reason: String) {
        #expect(throws: DBusError(.invalidArguments, "'\(name)' \(reason)")) { try BusName(name) }
    }

    @Test func `A long name is cut in the error`() throws {
        let error = #expect(throws: DBusError.self) {
            try MemberName(String(repeating: "x", count: 100_000))
        }
        #expect(try #require(error).message.count < 200)
    }
}

@Suite(.startsPrograms) struct SignatureTests {
    @Test(
        arguments: [
            ("", [] as [Signature]), ("s", ["s"]), ("ss", ["s", "s"]), ("a{sv}u", ["a{sv}", "u"]),
            ("aai(i(xx))v", ["aai", "(i(xx))", "v"]), ("a{s(ai)}ay", ["a{s(ai)}", "ay"]),
        ] as [(Signature, [Signature])])
    func `A signature is the sequence of its complete types`(
        _ signature: Signature, _ types: [Signature]
    ) {
        #expect(signature.types == types)
        #expect(signature.isSingleType == (types.count == 1))
    }

    @Test(arguments: [
        "a", "(", ")", "()", "{sv}", "a{vs}", "a{s}", "a{sss}", "k", "r", "e", "(i", "i)",
        String(repeating: "a", count: 33) + "i", String(repeating: "i", count: 256),
        String(repeating: "(", count: 33) + "i" + String(repeating: ")", count: 33),
    ])
    func `What is not a signature is refused`(_ text: String) {
        #expect(throws: DBusError.self) { try Signature(text) }
    }

    @Test func `The longest and the deepest signatures are accepted`() throws {
        let deep = String(repeating: "(", count: 32) + "i" + String(repeating: ")", count: 32)
        #expect(try Signature(deep).isSingleType)
        #expect(try Signature(String(repeating: "a", count: 32) + "i").types.count == 1)
        #expect(try Signature(String(repeating: "i", count: 255)).types.count == 255)
    }
}
