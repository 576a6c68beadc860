// Names of the database are the same if their bytes are. Strings are equal for Swift also if they only look alike.

extension String {
    /// Whether both are the same bytes, compared at once where they lie beside each other.
    package func hasSameBytes(as other: String) -> Bool {
        let isSame = utf8.withContiguousStorageIfAvailable { one in
            other.utf8.withContiguousStorageIfAvailable { one.elementsEqual($0) }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}

extension Hasher {
    /// Adds the bytes of a string, all at once where they lie beside each other.
    package mutating func combine(bytesOf string: String) {
        let isDone: Void? = string.utf8.withContiguousStorageIfAvailable { bytes in
            combine(bytes: UnsafeRawBufferPointer(bytes))
        }
        if isDone == nil { for byte in string.utf8 { combine(byte) } }
    }
}
