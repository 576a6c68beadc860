import DBus
import DefaultsPortal
import DefaultsProtocol
import KeyedArchive
import Testing

/// Stored values as settings of the portal, and its patterns.
struct AppearanceTests {
    private static func list(_ values: Value...) -> Value {
        .array(of: "v", values.map(Value.variant))
    }

    private static func color(_ red: Double, _ green: Double, _ blue: Double) -> Value {
        .structure([.double(red), .double(green), .double(blue)])
    }

    /// A marker with an exact type in the value form.
    private static func marker(_ type: String, _ value: Value) -> Value {
        .dictionary(
            key: "s", value: "v",
            [("$class", .string("GVariant")), ("type", .string(type)), ("value", value)].map {
                Value.Entry(.string($0.0), .variant($0.1))
            })
    }

    /// What is stored, and what programs get; nil for nothing.
    static let values: [(key: AppearanceKey, stored: Value, value: Value?)] = [
        (.colorScheme, .int64(0), .uint32(0)), (.colorScheme, .int64(2), .uint32(2)),
        (.colorScheme, .int64(3), nil), (.colorScheme, .int64(-1), nil),
        (.colorScheme, .uint64(.max), nil), (.colorScheme, .string("prefer-dark"), .uint32(1)),
        (.colorScheme, .string("light"), .uint32(2)), (.colorScheme, .string("1"), .uint32(1)),
        (.colorScheme, .string("default"), .uint32(0)), (.colorScheme, .string("01"), nil),
        (.colorScheme, .string("blue"), nil), (.colorScheme, .boolean(true), nil),
        (.colorScheme, .double(1), nil), (.colorScheme, list(.int64(1)), nil),
        (.colorScheme, marker("u", .int64(1)), .uint32(1)),
        (.contrast, .boolean(true), .uint32(1)), (.contrast, .int64(1), .uint32(1)),
        (.contrast, .int64(2), nil), (.contrast, .string("high"), .uint32(1)),
        (.contrast, .string("false"), .uint32(0)),
        (.reducedMotion, .boolean(false), .uint32(0)),
        (.reducedMotion, .string("reduce"), .uint32(1)), (.reducedMotion, .string(""), nil),
        (.accentColor, list(.double(0), .double(0.5), .double(1)), color(0, 0.5, 1)),
        (.accentColor, list(.int64(0), .string("0.5"), .int64(1)), color(0, 0.5, 1)),
        (.accentColor, marker("(ddd)", list(.double(0), .double(1), .double(0))), color(0, 1, 0)),
        (.accentColor, .string("#00ff33"), color(0, 1, 0.2)),
        (.accentColor, .string("#00FF33"), color(0, 1, 0.2)),
        (.accentColor, .string("red"), color(0xe6 / 255.0, 0x2d / 255.0, 0x42 / 255.0)),
        (.accentColor, .string("#0ff"), nil), (.accentColor, .string("#+0ff33"), nil),
        (.accentColor, .string("00ff33"), nil), (.accentColor, .string("#00ff3g"), nil),
        (.accentColor, list(.double(0), .double(1)), nil),
        (.accentColor, list(.double(0), .double(1), .double(1.1)), nil),
        (.accentColor, list(.double(0), .double(1), .double(-0.1)), nil),
        (.accentColor, list(.double(0), .double(1), .double(.nan)), nil),
        (.accentColor, list(.double(0), .double(1), .double(.infinity)), nil),
        (.accentColor, list(.double(0), .double(1), .string("x")), nil),
        (.accentColor, list(list(.double(0)), .double(1), .double(1)), nil),
        (.accentColor, .int64(1), nil), (.accentColor, .boolean(true), nil),
    ]

    @Test(arguments: values)
    func `A stored value is a setting, or nothing`(
        key: AppearanceKey, stored: Value, value: Value?
    ) throws {
        #expect(key.value(of: try VariantForm.archive(of: stored).bytes) == value)
    }

    @Test func `Bytes that are no archive, and large values, are nothing`() throws {
        for key in AppearanceKey.allCases {
            #expect(key.value(of: []) == nil)
            #expect(key.value(of: Array("bplist00".utf8)) == nil)
        }
        let large = Self.list(.double(0), .double(0), .string(String(repeating: "0", count: 5000)))
        #expect(
            AppearanceKey.accentColor.value(of: try VariantForm.archive(of: large).bytes) == nil)
    }

    @Test func `A pattern covers the namespace as a whole, or by its beginning`() {
        for pattern in [
            "", "*", "org.*", "org.freedesktop.appearance", "org.freedesktop.appearance*",
            "org.freedesktop.app*",
        ] { #expect(NamespacePattern.covers(pattern), "\(pattern)") }
        for pattern in [
            "org.freedesktop", "org.freedesktop.appearanc", "org.freedesktop.appearance.", "**",
            "org.gnome.*", "*appearance", "org.*.appearance", "org.freedesktop.appearance.*", "?*",
            "ORG.*", " *",
        ] { #expect(!NamespacePattern.covers(pattern), "\(pattern)") }
    }
}
