internal import CPostgres

/// A value of a statement, in the binary form of its type.
package struct Parameter: Sendable {
    /// The number of its type in PostgreSQL.
    let type: Oid
    /// Its bytes; nil is NULL.
    let bytes: [UInt8]?
}

/// The numbers of types, which are the same in all versions.
private enum TypeNumber {
    static let boolean = Oid(16)
    static let bytes = Oid(17)
    static let integer = Oid(20)
    static let text = Oid(25)
    static let bytesArray = Oid(1001)
    static let textArray = Oid(1009)
    static let time = Oid(1184)
    static let timeArray = Oid(1185)
    static let uuid = Oid(2950)
    static let uuidArray = Oid(2951)
}

extension Parameter {
    /// A `bool`.
    package static func boolean(_ value: Bool) -> Parameter {
        Parameter(type: TypeNumber.boolean, bytes: [value ? 1 : 0])
    }

    /// A `bigint`.
    package static func integer(_ value: Int64?) -> Parameter {
        Parameter(type: TypeNumber.integer, bytes: value.map(bigEndian))
    }

    /// A `text`; it must not contain NUL, which PostgreSQL cannot store.
    package static func text(_ value: String?) -> Parameter {
        Parameter(type: TypeNumber.text, bytes: value.map { Array($0.utf8) })
    }

    /// A `bytea`.
    package static func bytes(_ value: [UInt8]?) -> Parameter {
        Parameter(type: TypeNumber.bytes, bytes: value)
    }

    /// A `uuid`, of 16 bytes.
    package static func uuid(_ value: [UInt8]?) -> Parameter {
        Parameter(type: TypeNumber.uuid, bytes: value)
    }

    /// A `text[]`.
    package static func texts(_ values: [String]) -> Parameter {
        array(TypeNumber.textArray, of: TypeNumber.text, values.map { Array($0.utf8) })
    }

    /// A `bytea[]`.
    package static func byteArrays(_ values: [[UInt8]?]) -> Parameter {
        array(TypeNumber.bytesArray, of: TypeNumber.bytes, values)
    }

    /// A `uuid[]`.
    package static func uuids(_ values: [[UInt8]]) -> Parameter {
        array(TypeNumber.uuidArray, of: TypeNumber.uuid, values)
    }

    /// A `timestamptz[]`, of microseconds since 1970.
    package static func times(_ values: [Int64?]) -> Parameter {
        array(
            TypeNumber.timeArray, of: TypeNumber.time,
            values.map { $0.map { bigEndian(PostgresTime.stored($0)) } })
    }

    /// The form of an array of one dimension: the number of dimensions, whether there are NULLs, the
    /// type, the number of elements, the first index, and each element after its length.
    private static func array(_ type: Oid, of element: Oid, _ values: [[UInt8]?]) -> Parameter {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + values.reduce(0) { $0 + 4 + ($1?.count ?? 0) })
        for number in [1, 1, Int32(bitPattern: element), Int32(values.count), 1] {
            bytes += bigEndian(number)
        }
        for value in values {
            bytes += bigEndian(value.map { Int32($0.count) } ?? -1)
            bytes += value ?? []
        }
        return Parameter(type: type, bytes: bytes)
    }

    private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}

/// Times as PostgreSQL has them: microseconds since 2000.
enum PostgresTime {
    private static let offset: Int64 = 946_684_800_000_000
    /// The times that PostgreSQL has, by its own clock.
    ///
    /// The first and the last number mean infinity.
    private static let bounds: ClosedRange<Int64> =
        -200_000_000_000_000_000...9_000_000_000_000_000_000

    /// The stored form of microseconds since 1970; the nearest one if there is none.
    static func stored(_ time: Int64) -> Int64 {
        let (shifted, isTooEarly) = time.subtractingReportingOverflow(offset)
        return isTooEarly
            ? bounds.lowerBound : min(max(shifted, bounds.lowerBound), bounds.upperBound)
    }

    /// Microseconds since 1970, of a stored form.
    static func microseconds(_ stored: Int64) -> Int64 {
        let (shifted, isTooLate) = stored.addingReportingOverflow(offset)
        return isTooLate ? .max : shifted
    }
}
