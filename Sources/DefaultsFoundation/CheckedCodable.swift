public import DefaultsClient
public import Foundation
public import KeyedArchive

/// A Codable type of Foundation that ends the process for some archives.
///
/// These are IndexSet, CharacterSet, URLComponents, Calendar, DateComponents and DateInterval.
/// `DefaultsKey(_:default:)` checks an archive before it decodes such a value. If the check fails, the
/// key has its default, as with any value that cannot be read.
public protocol CheckedCodable: Codable, Sendable {
    /// Throws if the archive is none of a value of the type.
    static func check(_ archive: KeyedArchive) throws
}

extension ValueCoding where Value: CheckedCodable {
    /// The coding of a Codable type whose archives are checked first.
    public static func checked() -> ValueCoding {
        let unchecked = ValueCoding.codable()
        return ValueCoding(
            encode: unchecked.encode,
            decode: { archive in
                try Value.check(archive)
                return try unchecked.decode(archive)
            })
    }
}

extension KeyedArchiveDecoder {
    /// Decodes objects of a type as a form of it that has the fields to check.
    fileprivate mutating func setForm(
        _ form: any (Decodable & SendableMetatype).Type, of type: any CheckedCodable.Type
    ) {
        setClass(form, forClassName: _typeName(type, qualified: false))
        setClass(form, forClassName: _typeName(type, qualified: true))
    }
}

extension CheckedCodable {
    /// Decodes what is checked: plain values in the fields that the type has in archives.
    fileprivate static func form<Form: Decodable & SendableMetatype>(
        _ form: Form.Type, in archive: KeyedArchive
    ) throws -> Form {
        var decoder = KeyedArchiveDecoder()
        decoder.setForm(form, of: Self.self)
        decoder.setForm(Calendar.Form.self, of: Calendar.self)
        return try decoder.decode(form, from: archive)
    }
}

extension DefaultsKey where Value: CheckedCodable {
    /// Makes a key of a type of Foundation whose archives are checked first.
    ///
    /// ```swift
    /// static let hiddenRows = DefaultsKey("HiddenRows", default: IndexSet())
    /// ```
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - value: The value that is in effect if no layer has the key. It is evaluated at each need.
    public convenience init(
        _ name: String, default value: @autoclosure @escaping @Sendable () -> Value
    ) {
        self.init(name, coding: .checked(), default: value())
    }

    /// Makes a key of a type of Foundation whose archives are checked first, with a default that may
    /// change.
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - makeDefault: Makes the value that is in effect if no layer has the key.
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, coding: .checked(), default: makeDefault)
    }
}

extension DefaultsKey {
    /// Makes a key of an optional type of Foundation whose archives are checked first.
    ///
    /// Setting nil removes the value. If there is no value, the default is in effect.
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - value: The value that is in effect if no layer has the key.
    public convenience init<Wrapped: CheckedCodable>(
        _ name: String, default value: @autoclosure @escaping @Sendable () -> Value = nil
    ) where Value == Wrapped? {
        self.init(name, coding: .optional(.checked()), default: value())
    }
}

extension IndexSet: CheckedCodable {
    private struct Form: Decodable {
        struct Range: Decodable {
            let location, length: Int
        }

        let indexes: [Range]
    }

    /// Throws if a range is negative or too long, or overlaps the one before it.
    public static func check(_ archive: KeyedArchive) throws {
        let form = try form(Form.self, in: archive)
        guard IndexRanges.ranges(form.indexes.flatMap { [$0.location, $0.length] }) != nil else {
            throw ObjectCodingError.badObject(
                "IndexSet", needs: "its ranges are negative, or overlap")
        }
    }
}

extension URLComponents: CheckedCodable {
    private struct Form: Decodable {
        let scheme: String?
        let port: Int?
    }

    /// Throws if the port is negative, or the scheme has a character that no scheme has.
    public static func check(_ archive: KeyedArchive) throws {
        let form = try form(Form.self, in: archive)
        guard form.port ?? 0 >= 0, form.scheme.map(isScheme) ?? true else {
            throw ObjectCodingError.badObject(
                "URLComponents", needs: "its scheme or its port is not one of a URL")
        }
    }

    private static func isScheme(_ text: String) -> Bool {
        guard text.first?.isLetter == true else { return false }
        return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }
}

extension CharacterSet: CheckedCodable {
    private struct Form: Decodable {
        let bitmap: Data
    }

    /// The bytes with a bit for each character of a plane.
    private static let planeSize = 8192

    /// Throws if the bitmap is cut off, or has a plane that Unicode does not have.
    public static func check(_ archive: KeyedArchive) throws {
        let bitmap = try form(Form.self, in: archive).bitmap
        // The first plane has no number before its bits.
        let (count, rest) = (bitmap.count - planeSize).quotientAndRemainder(
            dividingBy: planeSize + 1)
        let numbers = (0..<max(count, 0)).map {
            bitmap[bitmap.startIndex + planeSize + $0 * (planeSize + 1)]
        }
        guard bitmap.count >= planeSize, rest == 0, numbers.allSatisfy({ (1...16).contains($0) })
        else {
            throw ObjectCodingError.badObject("CharacterSet", needs: "its bitmap is not one")
        }
    }
}

extension Calendar: CheckedCodable {
    fileprivate struct Form: Decodable {
        let firstWeekday, minimumDaysInFirstWeek: Int?

        var isValid: Bool {
            (1...7).contains(firstWeekday ?? 1) && (0...7).contains(minimumDaysInFirstWeek ?? 1)
        }
    }

    /// Throws if the first day of the week, or the fewest days in the first week, is not one of a week.
    public static func check(_ archive: KeyedArchive) throws {
        guard try form(Form.self, in: archive).isValid else { throw ObjectCodingError.badCalendar }
    }
}

extension DateComponents: CheckedCodable {
    private struct Form: Decodable {
        let calendar: Calendar.Form?
    }

    /// Throws if the calendar is not one.
    public static func check(_ archive: KeyedArchive) throws {
        guard try form(Form.self, in: archive).calendar?.isValid ?? true else {
            throw ObjectCodingError.badCalendar
        }
    }
}

extension ObjectCodingError {
    fileprivate static let badCalendar = badObject("Calendar", needs: "it has another week")
}

extension DateInterval: CheckedCodable {
    private struct Form: Decodable {
        let start: Date
        let duration: TimeInterval
    }

    /// Throws if it ends before it begins, or a time is not a number.
    public static func check(_ archive: KeyedArchive) throws {
        let form = try form(Form.self, in: archive)
        guard form.start.timeIntervalSinceReferenceDate.isFinite, form.duration.isFinite,
            form.duration >= 0
        else {
            throw ObjectCodingError.badObject("DateInterval", needs: "it ends before it begins")
        }
    }
}
