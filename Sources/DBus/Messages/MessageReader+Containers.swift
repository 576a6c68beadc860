import CDBus

/// Values that hold others. The closure is lent a reader of what is inside.
extension MessageReader {
    /// Reads an array: calls the closure for each element, which it must read.
    ///
    /// - Returns: What the closure made of the elements, in their order.
    public mutating func readArray<Element>(
        _ element: (inout MessageReader) throws -> Element
    ) throws -> [Element] {
        try expect(.array)
        return try readInside { inner in
            var elements: [Element] = []
            while !inner.isAtEnd {
                let before = inner.valuesRead
                elements.append(try element(&inner))
                precondition(inner.valuesRead != before, "An element of an array was not read.")
            }
            return elements
        }
    }

    /// Reads a dictionary: calls the closure for each entry, of which it must read key and value.
    ///
    /// - Returns: The entries in the order of the message. A key may stand there twice: D-Bus asks
    ///   senders not to do so, and nobody checks.
    public mutating func readDictionary<Key, Content>(
        _ entry: (inout MessageReader) throws -> (Key, Content)
    ) throws -> [(Key, Content)] {
        try expect(.array)
        guard nextElementType == .dictionaryEntry else {
            throw DBusError.unexpectedType(nextElementType, expected: .dictionaryEntry)
        }
        return try readArray { try $0.readWhole(.dictionaryEntry, entry) }
    }

    /// Reads a structure: the closure must read all of its fields.
    public mutating func readStructure<Content>(
        _ fields: (inout MessageReader) throws -> Content
    ) throws -> Content {
        try readWhole(.structure, fields)
    }

    /// Reads a variant: the closure must read its one value, whose type ``nextSignature`` tells.
    public mutating func readVariant<Content>(
        _ value: (inout MessageReader) throws -> Content
    ) throws -> Content {
        try readWhole(.variant, value)
    }

    /// Reads an `a{sv}` of which some entries are wanted: the closure is lent each value with its key
    /// and its type, and leaves those that it does not know.
    mutating func readEntries(
        _ body: (_ key: String, _ type: Signature, _ value: inout MessageReader) throws -> Void
    ) throws {
        _ = try readDictionary { entry in
            let key = try entry.readString()
            try entry.readVariant { value in
                guard let type = value.nextSignature else { throw DBusError.noValue }
                try body(key, type, &value)
                if !value.isAtEnd { value.advance() }
            }
            return (key, ())
        }
    }

    /// Reads an `ay` in one piece.
    public mutating func readBytes() throws -> [UInt8] {
        try withBytes { bytes in
            bytes.withUnsafeBufferPointer { Array($0) }
        }
    }

    /// Lends the bytes of an `ay` without a copy.
    public mutating func withBytes<Result>(
        _ body: (Span<UInt8>) throws -> Result
    ) throws -> Result {
        try expect(.array)
        guard nextElementType == .byte else {
            throw DBusError.unexpectedType(nextElementType, expected: .byte)
        }
        return try readInside { inner in
            var start: UnsafePointer<UInt8>?
            var count: Int32 = 0
            dbus_message_iter_get_fixed_array(&inner.iterator, &start, &count)
            // The pointer is into the message, which outlives this reader; nil where there is no byte.
            let buffer = UnsafeBufferPointer(start: start, count: start == nil ? 0 : Int(count))
            return try body(buffer.span)
        }
    }

    /// The type of the elements where an array comes next, or nil.
    public var nextElementType: TypeCode? {
        mutating get {
            // libdbus ends the process where it is asked about another type.
            guard nextType == .array else { return nil }
            return TypeCode(libdbus: dbus_message_iter_get_element_type(&iterator))
        }
    }

    private mutating func readWhole<Content>(
        _ type: TypeCode, _ body: (inout MessageReader) throws -> Content
    ) throws -> Content {
        try expect(type)
        return try readInside { inner in
            let content = try body(&inner)
            try inner.expectEnd()
            return content
        }
    }

    private mutating func readInside<Content>(
        _ body: (inout MessageReader) throws -> Content
    ) throws -> Content {
        var inner = MessageReader(inside: &self)
        let content = try body(&inner)
        advance()
        return content
    }
}
