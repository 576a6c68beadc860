internal import Foundation
internal import KeyedArchive
internal import PropertyList

/// What stands in a field inline: numbers and bytes.
///
/// Some archivers write them as objects; then they are read through the reference.
extension ObjectMaker {
    func boolean(at index: ObjectIndex) -> Bool? {
        switch list.value(at: archive.target(of: index)) {
        case .boolean(let value): return value
        // Foundation on Linux writes booleans so.
        case .integer(0): return false
        case .integer(1): return true
        default:
            fail(.wrongType(kind(of: index), needs: "a boolean"), at: index)
            return nil
        }
    }

    func integer<Value: FixedWidthInteger>(at index: ObjectIndex) -> Value? {
        let value: Value?
        switch list.value(at: archive.target(of: index)) {
        case .integer(let integer): value = Value(exactly: integer)
        case .real(let real): value = Value(exactly: real)
        case .singleReal(let real): value = Value(exactly: real)
        default:
            fail(.wrongType(kind(of: index), needs: "an integer"), at: index)
            return nil
        }
        if value == nil { fail(.outOfRange("an integer of \(Value.bitWidth) bits"), at: index) }
        return value
    }

    func real(at index: ObjectIndex) -> Double? {
        switch list.value(at: archive.target(of: index)) {
        case .real(let real): return real
        case .singleReal(let real): return Double(real)
        case .integer(let integer):
            if let real = Double(exactly: integer) { return real }
            fail(.outOfRange("a real of 64 bits exactly"), at: index)
            return nil
        default:
            fail(.wrongType(kind(of: index), needs: "a real"), at: index)
            return nil
        }
    }

    /// A real of 32 bits, to which one of 64 is rounded, but no integer.
    func single(at index: ObjectIndex) -> Float? {
        switch list.value(at: archive.target(of: index)) {
        case .singleReal(let real): return real
        case .real(let real):
            let single = Float(real)
            if single.isFinite || !real.isFinite { return single }
            fail(.outOfRange("a real of 32 bits"), at: index)
            return nil
        case .integer(let integer):
            if let single = Float(exactly: integer) { return single }
            fail(.outOfRange("a real of 32 bits exactly"), at: index)
            return nil
        default:
            fail(.wrongType(kind(of: index), needs: "a real"), at: index)
            return nil
        }
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
