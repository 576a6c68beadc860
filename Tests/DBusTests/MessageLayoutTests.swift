import Testing

@testable import DBus

/// Sizes and depths that cost too much to try on a real message.
@Suite struct MessageLayoutTests {
    @Test func `A failed layout throws the same error again (2)`() {
        var layout = MessageLayout()
        let tooMuch: (inout MessageLayout) throws(DBusError) -> Void = { layout throws(DBusError) in
            try layout.bytes(count: .max)
        }
        let harmless: (inout MessageLayout) throws(DBusError) -> Void = {
            layout throws(DBusError) in
            try layout.value(.byte, size: 1)
        }
        #expect(throws: DBusError.arrayTooLong) { try layout.step(tooMuch) }
        #expect(throws: DBusError.arrayTooLong) { try layout.step(harmless) }
        #expect(throws: DBusError.arrayTooLong) { try layout.finish() }
    }

    @Test(arguments: [
        (TypeCode.byte, 1, 1), (.boolean, 4, 4), (.int16, 2, 2), (.double, 8, 8), (.string, 10, 4),
    ])
    func `A value takes its size and the padding before it (4)`(
        _ type: TypeCode, _ size: Int, _ alignment: Int
    ) throws {
        var layout = MessageLayout()
        try layout.value(.byte, size: 1)
        try layout.value(type, size: size)
        #expect(layout.size == alignment + size)
    }

    @Test func `An array may have 64 MiB and a message 128, including headers`() throws {
        let most = MessageLimits.maximumArray
        var layout = MessageLayout()
        try layout.bytes(count: most)
        #expect(throws: DBusError.messageTooLong) { try layout.bytes(count: most) }
        var other = MessageLayout()
        #expect(throws: DBusError.arrayTooLong) { try other.bytes(count: most + 1) }
        var long = MessageLayout(path: try ObjectPath("/" + String(repeating: "a", count: 1 << 20)))
        try long.bytes(count: most)
        #expect(throws: DBusError.messageTooLong) { try long.bytes(count: most - (1 << 20)) }
    }

    @Test
    func `An array of strings may have 64 MiB too, which is checked when it is closed`() throws {
        var layout = MessageLayout()
        try layout.openArray(of: "s")
        for _ in 0..<64 { try layout.value(.string, size: 1 << 20) }
        try layout.closeArray(of: "s")
        var more = MessageLayout()
        try more.openArray(of: "s")
        for _ in 0..<64 { try more.value(.string, size: (1 << 20) + 4) }
        #expect(throws: DBusError.arrayTooLong) { try more.closeArray(of: "s") }
    }

    @Test func `A message carries 16 descriptors`() throws {
        var layout = MessageLayout()
        try layout.openArray(of: "h")
        for _ in 0..<16 { try layout.value(.unixFD, size: 4) }
        #expect(throws: DBusError.tooManyDescriptors) { try layout.value(.unixFD, size: 4) }
    }

    @Test func `Numbers in an array do not count as nested, strings do (3)`() throws {
        func layout(endingIn last: Signature) throws -> MessageLayout {
            var layout = MessageLayout()
            for _ in 0..<63 { try layout.openVariant(of: "v") }
            try layout.openVariant(of: last)
            return layout
        }
        var numbers = try layout(endingIn: "au")
        try numbers.openArray(of: "u")
        try numbers.value(.uint32, size: 4)
        var strings = try layout(endingIn: "as")
        try strings.openArray(of: "s")
        #expect(throws: DBusError.nestedTooDeeply) { try strings.value(.string, size: 6) }
        var variants = try layout(endingIn: "v")
        try variants.openVariant(of: "u")
        #expect(throws: DBusError.nestedTooDeeply) { try variants.value(.uint32, size: 4) }
    }

    @Test func `A signature of more than 255 bytes is refused`() throws {
        var layout = MessageLayout()
        for _ in 0..<255 { try layout.value(.byte, size: 1) }
        #expect(throws: DBusError.self) { try layout.value(.byte, size: 1) }
    }
}
