internal import Foundation
internal import KeyedArchive
internal import PropertyList

/// What stands in a field inline: numbers and bytes.
///
/// Some archivers write them as objects; then they are read through the reference.
extension ObjectMaker {
    func boolean(at index: ObjectIndex) -> Bool? {
        let value = list.value(at: archive.target(of: index)).asBoolean
        if value == nil { fail(.wrongType(kind(of: index), needs: "a boolean"), at: index) }
        return value
    }

    func integer<Value: FixedWidthInteger>(at index: ObjectIndex) -> Value? {
        let reading = list.value(at: archive.target(of: index)).asWidestInteger
        var range: String { "an integer of \(Value.bitWidth) bits" }
        guard let widest = number(reading, "an integer", range, at: index) else { return nil }
        let value = Value(exactly: widest)
        if value == nil { fail(.outOfRange(range), at: index) }
        return value
    }

    func real(at index: ObjectIndex) -> Double? {
        let reading = list.value(at: archive.target(of: index)).asReal
        return number(reading, "a real", "a real of 64 bits exactly", at: index)
    }

    func single(at index: ObjectIndex) -> Float? {
        let reading = list.value(at: archive.target(of: index)).asSingleReal
        return number(reading, "a real", "a real of 32 bits", at: index)
    }

    private func number<Number>(
        _ reading: NumberReading<Number>, _ need: String,
        _ range: @autoclosure () -> String, at index: ObjectIndex
    ) -> Number? {
        switch reading {
        case .number(let number): return number
        case .doesNotFit: fail(.outOfRange(range()), at: index)
        case .notNumber: fail(.wrongType(kind(of: index), needs: need), at: index)
        }
        return nil
    }

    func bytes(at index: ObjectIndex) -> [UInt8]? {
        guard case .data(let range) = list.value(at: archive.target(of: index)) else {
            fail(.wrongType(kind(of: index), needs: "bytes"), at: index)
            return nil
        }
        return spend(bytes: range.count) ? Array(list.data(of: range)) : nil
    }

    /// A property list, whether it stands inline or is an object.
    func propertyList(at index: ObjectIndex) -> NSObject? {
        if case .uid = list.value(at: index) {
            return object(at: index, allowing: .propertyList, isBelow: false)
        }
        return value(at: index, allowing: .propertyList, isBelow: false)?.object
    }
}
