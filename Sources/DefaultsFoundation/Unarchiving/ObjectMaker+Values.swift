internal import Foundation
internal import KeyedArchive
internal import PropertyList

/// What stands in an archive without a class.
extension ObjectMaker {
    /// What an object of the property list is, in words.
    func kind(of index: ObjectIndex) -> String {
        switch list.value(at: index) {
        case .boolean: "a boolean"
        case .integer: "an integer"
        case .real, .singleReal: "a real"
        case .date: "a date"
        case .data: "bytes"
        case .string: "a string"
        case .uid(let uid): archive.isNil(uid) ? "nil" : "an object"
        case .array: "an array that stands inline"
        case .set, .orderedSet: "a set that stands inline"
        case .dictionary: "a dictionary that stands inline"
        }
    }

    /// Makes a value of the property list that is no object of a class.
    func value(at index: ObjectIndex, allowing allowed: AllowList, isBelow: Bool) -> Made? {
        switch list.value(at: index) {
        case .array(let references):
            guard check(NSArray.self, allowed, isBelow: isBelow, at: index) else { return nil }
            return array(.references(references), isMutable: false, allowing: allowed)
        case .set(let references):
            guard check(NSSet.self, allowed, isBelow: isBelow, at: index) else { return nil }
            return set(.references(references), .set, at: index, allowing: allowed)
        case .orderedSet(let references):
            guard check(NSOrderedSet.self, allowed, isBelow: isBelow, at: index) else { return nil }
            return set(.references(references), .orderedSet, at: index, allowing: allowed)
        case .dictionary(let keys, let values):
            guard check(NSDictionary.self, allowed, isBelow: isBelow, at: index) else { return nil }
            return dictionary(
                .references(keys), .references(values), isMutable: false, at: index,
                allowing: allowed)
        default:
            guard let scalar = scalar(at: index),
                check(type(of: scalar), allowed, isBelow: isBelow, at: index)
            else { return nil }
            return Made(object: scalar)
        }
    }

    private func scalar(at index: ObjectIndex) -> NSObject? {
        switch list.value(at: index) {
        case .boolean(let value): return NSNumber(value: value)
        case .integer(let value): return number(value, at: index)
        case .real(let value): return NSNumber(value: value)
        case .singleReal(let value): return NSNumber(value: value)
        case .date(let seconds): return date(seconds, at: index)
        case .data(let range): return data(list.data(of: range)).map { $0 as NSData }
        case .string(let range): return string(list.text(of: range), at: index).map(NSString.init)
        case .uid, .array, .set, .orderedSet, .dictionary:
            fail(.wrongType(kind(of: index), needs: "a value"), at: index)
            return nil
        }
    }

    private func number(_ value: Int128, at index: ObjectIndex) -> NSNumber? {
        if let value = Int64(exactly: value) { return NSNumber(value: value) }
        if let value = UInt64(exactly: value) { return NSNumber(value: value) }
        fail(.outOfRange("64 bits"), at: index)
        return nil
    }

    /// A date; one of no time traps where it is described.
    func date(_ seconds: Double, at index: ObjectIndex) -> NSDate? {
        guard seconds.isFinite else {
            fail(.badObject("NSDate", needs: "its time is no number"), at: index)
            return nil
        }
        return NSDate(timeIntervalSinceReferenceDate: seconds)
    }

    /// A string, which must be one that Swift can hold.
    func string(_ text: Text, at index: ObjectIndex) -> String? {
        guard spend(bytes: text.byteCount) else { return nil }
        guard let string = text.string else {
            fail(.badObject("NSString", needs: "it has an unpaired surrogate"), at: index)
            return nil
        }
        return string
    }

    func data(_ bytes: ArraySlice<UInt8>) -> Data? {
        spend(bytes: bytes.count) ? Data(bytes) : nil
    }
}
