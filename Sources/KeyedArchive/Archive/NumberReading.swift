package import PropertyList

/// The result of reading a value as a number of some type.
package enum NumberReading<Number> {
    case number(Number)
    /// The value is a number that the type cannot hold.
    case doesNotFit
    /// The value is not a number.
    case notNumber
}

/// The only rules for converting numbers, both for Codable types and for objects.
extension PropertyList.Value {
    /// The value as a boolean; nil if it is not one.
    package var asBoolean: Bool? {
        switch self {
        case .boolean(let value): value
        // Foundation on Linux writes booleans as integers.
        case .integer(0): false
        case .integer(1): true
        default: nil
        }
    }

    /// The value as the widest integer.
    ///
    /// Other modules use this instead of ``asInteger()``, which is not compiled for each type
    /// there.
    package var asWidestInteger: NumberReading<Int128> { asInteger() }

    /// The value as an integer: an integer in range, or a whole real in range.
    @inline(__always)
    func asInteger<Integer: FixedWidthInteger>() -> NumberReading<Integer> {
        let value: Integer?
        switch self {
        case .integer(let integer): value = Integer(exactly: integer)
        case .real(let real): value = Integer(exactly: real)
        case .singleReal(let real): value = Integer(exactly: real)
        default: return .notNumber
        }
        return value.map { .number($0) } ?? .doesNotFit
    }

    /// The value as a 64-bit real: a real, or an integer that can be converted exactly.
    package var asReal: NumberReading<Double> {
        switch self {
        case .real(let real): .number(real)
        case .singleReal(let real): .number(Double(real))
        case .integer(let integer): Double(exactly: integer).map { .number($0) } ?? .doesNotFit
        default: .notNumber
        }
    }

    /// The value as a 32-bit real: the nearest value to a real in range, or an integer that can be
    /// converted exactly.
    package var asSingleReal: NumberReading<Float> {
        switch self {
        case .singleReal(let real):
            return .number(real)
        case .real(let real):
            let rounded = Float(real)
            return rounded.isFinite || !real.isFinite ? .number(rounded) : .doesNotFit
        case .integer(let integer):
            return Float(exactly: integer).map { .number($0) } ?? .doesNotFit
        default:
            return .notNumber
        }
    }
}
