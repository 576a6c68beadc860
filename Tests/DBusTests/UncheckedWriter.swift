import CDBus
import SystemCalls

@testable import DBus

/// Writes values with nobody asked whether they may be written, to see what a bus says.
enum UncheckedWriter {
    static func append(_ value: Value, to message: borrowing Message) throws {
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(message.pointer, &iterator)
        try append(value, to: &iterator)
    }

    private static func append(_ value: Value, to iterator: inout DBusMessageIter) throws {
        switch value {
        case .byte(var byte):
            dbus_message_iter_append_basic(&iterator, Int32(UInt8(ascii: "y")), &byte)
        case .uint32(var number):
            dbus_message_iter_append_basic(&iterator, Int32(UInt8(ascii: "u")), &number)
        case .unixFD(let file):
            var number = file.number
            dbus_message_iter_append_basic(&iterator, Int32(UInt8(ascii: "h")), &number)
        case .string(let text):
            text.withCString { pointer in
                var pointer = pointer
                _ = dbus_message_iter_append_basic(&iterator, Int32(UInt8(ascii: "s")), &pointer)
            }
        case .bytes(let bytes):
            try nest("a", "y", in: &iterator) { inner in
                for byte in bytes { try append(.byte(byte), to: &inner) }
            }
        case .array(let element, let values):
            try nest("a", element.string, in: &iterator) { inner in
                for value in values { try append(value, to: &inner) }
            }
        case .dictionary(let key, let value, let entries):
            try nest("a", "{\(key)\(value)}", in: &iterator) { inner in
                for entry in entries {
                    try nest("e", nil, in: &inner) { fields in
                        try append(entry.key, to: &fields)
                        try append(entry.value, to: &fields)
                    }
                }
            }
        case .variant(let value):
            try nest("v", value.type.string, in: &iterator) { try append(value, to: &$0) }
        default:
            preconditionFailure("The tests write no such value unchecked.")
        }
    }

    private static func nest(
        _ type: Unicode.Scalar, _ contents: String?, in iterator: inout DBusMessageIter,
        _ body: (inout DBusMessageIter) throws -> Void
    ) throws {
        var inner = DBusMessageIter()
        dbus_message_iter_open_container(&iterator, Int32(type.value), contents, &inner)
        try body(&inner)
        dbus_message_iter_close_container(&iterator, &inner)
    }
}
