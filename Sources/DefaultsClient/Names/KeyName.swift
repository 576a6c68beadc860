/// The name of a key, compared by its bytes, as the service does.
///
/// Swift's strings are equal if Unicode says that they are equivalent.
package struct KeyName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The name.
    package let string: String

    /// The name in a string, which is not checked.
    package init(_ string: String) {
        self.string = string
    }

    package static func == (one: KeyName, other: KeyName) -> Bool {
        let isEqual = one.utf8.withContiguousStorageIfAvailable { bytes in
            other.utf8.withContiguousStorageIfAvailable { bytes.elementsEqual($0) }
        }
        return (isEqual ?? nil) ?? one.utf8.elementsEqual(other.utf8)
    }

    package static func < (one: KeyName, other: KeyName) -> Bool {
        one.string.utf8.lexicographicallyPrecedes(other.string.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        let isHashed: Void? = string.utf8.withContiguousStorageIfAvailable { bytes in
            hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
        if isHashed == nil { for byte in string.utf8 { hasher.combine(byte) } }
    }

    var utf8: String.UTF8View { string.utf8 }
    package var description: String { string }
}
