internal import Foundation
internal import KeyedArchive
internal import PropertyList

/// Values of an archive that have no class.
extension ObjectMaker {
    /// What an object of the property list is, for messages.
    func kind(of index: ObjectIndex) -> String {
        switch list.value(at: index) {
        case .boolean: "a boolean"
        case .integer: "an integer"
        case .real, .singleReal: "a real"
        case .date: "a date"
        case .data: "bytes"
        case .string: "a string"
        case .uid(let uid): archive.isNil(uid) ? "nil" : "an object"
        case .array: "an inline array"
        case .set, .orderedSet: "an inline set"
        case .dictionary: "an inline dictionary"
        }
    }

    /// Makes a value of the property list that is not an object of a class.
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

    /// A date.
    ///
    /// An NSDate whose time is not a number traps when it is described.
    private func date(_ seconds: Double, at index: ObjectIndex) -> NSDate? {
        guard seconds.isFinite else {
            fail(.badObject("NSDate", needs: "its time is not a number"), at: index)
            return nil
        }
        return NSDate(timeIntervalSinceReferenceDate: seconds)
    }

    /// A string without unpaired surrogates.
    private func string(_ text: Text, at index: ObjectIndex) -> String? {
        guard spend(bytes: text.byteCount) else { return nil }
        guard let string = text.string else {
            fail(.badObject("NSString", needs: "it has an unpaired surrogate"), at: index)
            return nil
        }
        return string
    }

    private func data(_ bytes: ArraySlice<UInt8>) -> Data? {
        spend(bytes: bytes.count) ? Data(bytes) : nil
    }
}

/// Inline values of fields: numbers and bytes.
///
/// Some archivers write them as objects. Then the reference is followed.
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

    /// A property list, inline or as an object.
    func propertyList(at index: ObjectIndex) -> NSObject? {
        if case .uid = list.value(at: index) {
            return object(at: index, allowing: .propertyList, isBelow: false)
        }
        return value(at: index, allowing: .propertyList, isBelow: false)?.object
    }
}

/// Objects of Foundation's classes that this module makes itself.
extension ObjectMaker {
    func known(
        _ kind: FoundationClasses.Known, _ name: String, with fields: Fields,
        at index: ObjectIndex, allowing allowed: AllowList
    ) -> Made? {
        switch kind {
        case .array, .mutableArray, .set, .mutableSet, .orderedSet, .mutableOrderedSet,
            .dictionary, .mutableDictionary, .string, .mutableString, .data, .mutableData:
            return formed(kind, name, with: fields, at: index, allowing: allowed)
        case .countedSet:
            return countedSet(with: fields, at: index, allowing: allowed)
        case .null:
            return Made(object: NSNull())
        case .number:
            fail(.badObject(name, needs: "numbers have no fields"), at: index)
            return nil
        case .attributedString, .mutableAttributedString:
            let decoder = FieldDecoder(self, fields: fields, uid: 0, at: index, allowed: allowed)
            return attributedString(
                isMutable: kind == .mutableAttributedString, with: decoder, at: index,
                allowing: allowed)
        case .date, .url, .uuid, .error, .queryItem, .indexSet, .mutableIndexSet, .value,
            .dateInterval:
            let decoder = FieldDecoder(self, fields: fields, uid: 0, at: index, allowed: allowed)
            let object = object(of: kind, with: decoder, at: index)
            if object == nil, log.first == nil {
                fail(.badObject(name, needs: "a field is missing or wrong"), at: index)
            }
            return object.map { Made(object: $0) }
        }
    }

    /// Makes an object of a class that archivers write in several forms.
    private func formed(
        _ kind: FoundationClasses.Known, _ name: String, with fields: Fields,
        at index: ObjectIndex, allowing allowed: AllowList
    ) -> Made? {
        switch (kind, archive.form(of: fields)) {
        case (.array, .array(let elements)):
            return array(elements, isMutable: false, allowing: allowed)
        case (.mutableArray, .array(let elements)):
            return array(elements, isMutable: true, allowing: allowed)
        case (.set, .set(let elements, _)), (.mutableSet, .set(let elements, _)),
            (.orderedSet, .set(let elements, _)), (.mutableOrderedSet, .set(let elements, _)):
            return set(elements, kind, at: index, allowing: allowed)
        case (.dictionary, .dictionary(let keys, let values)):
            return dictionary(keys, values, isMutable: false, at: index, allowing: allowed)
        case (.mutableDictionary, .dictionary(let keys, let values)):
            return dictionary(keys, values, isMutable: true, at: index, allowing: allowed)
        case (.string, .string(let text)):
            return string(text, at: index).map { Made(object: NSString(string: $0)) }
        case (.mutableString, .string(let text)):
            return string(text, at: index).map { Made(object: NSMutableString(string: $0)) }
        case (.data, .data(let bytes)):
            return data(bytes).map { Made(object: NSData(data: $0)) }
        case (.mutableData, .data(let bytes)):
            return data(bytes).map { Made(object: NSMutableData(data: $0)) }
        default:
            fail(.badObject(name, needs: "its fields are not those of its class"), at: index)
            return nil
        }
    }

    /// Makes an object from its fields; nil if one is missing or wrong.
    private func object(
        of kind: FoundationClasses.Known, with fields: FieldDecoder, at index: ObjectIndex
    ) -> NSObject? {
        switch kind {
        case .date:
            guard fields.containsValue(forKey: "NS.time") else { return nil }
            return date(fields.decodeDouble(forKey: "NS.time"), at: index)
        case .url:
            return url(with: fields)
        case .uuid:
            return fields.withDecodedUnsafeBytes(forKey: "NS.uuidbytes") { bytes in
                guard let bytes, bytes.count == 16 else { return nil }
                return bytes.withMemoryRebound(to: UInt8.self) { bytes in
                    bytes.baseAddress.map { NSUUID(uuidBytes: $0) }
                }
            }
        case .error:
            return error(with: fields)
        case .indexSet, .mutableIndexSet:
            return indexSet(isMutable: kind == .mutableIndexSet, with: fields, at: index)
        case .value:
            return value(with: fields, at: index)
        case .dateInterval:
            return dateInterval(with: fields, at: index)
        case .queryItem:
            let name = fields.decodeObject(of: NSString.self, forKey: "NS.name")
            let value = fields.optionalObject(of: NSString.self, forKey: "NS.value")
            return name.map { NSURLQueryItem(name: $0 as String, value: value as String?) }
        default:
            return nil
        }
    }

    private func url(with fields: FieldDecoder) -> NSURL? {
        guard let string = fields.decodeObject(of: NSString.self, forKey: "NS.relative") else {
            return nil
        }
        let relative = string as String
        let base = fields.optionalObject(of: NSURL.self, forKey: "NS.base").map(withoutBase)
        // The two are joined when the URL is made, and many URLs can share them.
        let size = relative.utf8.count + (base?.absoluteString.utf8.count ?? 0)
        // An NSURL that is not a valid URL traps as soon as a collection contains it.
        guard spend(bytes: size), URL(string: relative, relativeTo: base) != nil else { return nil }
        return NSURL(string: relative, relativeTo: base)
    }

    /// The URL itself if it has no base, otherwise the absolute URL.
    ///
    /// Otherwise a chain of bases would be joined again for each URL.
    private func withoutBase(_ url: NSURL) -> URL {
        url.baseURL == nil ? url as URL : (url.absoluteURL ?? url as URL)
    }

    private func error(with fields: FieldDecoder) -> NSError? {
        guard let domain = fields.decodeObject(of: NSString.self, forKey: "NSDomain") else {
            return nil
        }
        let code = fields.decodeInteger(forKey: "NSCode")
        guard fields.containsValue(forKey: "NSUserInfo") else {
            return NSError(domain: domain as String, code: code)
        }
        // The classes that Foundation allows here, and those that the caller allows.
        let classes: [AnyClass] = [
            NSDictionary.self, NSArray.self, NSSet.self, NSString.self, NSNumber.self, NSData.self,
            NSURL.self, NSError.self,
        ]
        let info = fields.decodeObject(
            of: classes + (fields.allowedClasses ?? []), forKey: "NSUserInfo")
        guard let info else { return NSError(domain: domain as String, code: code) }
        guard let userInfo = (info as? NSDictionary) as? [String: Any] else { return nil }
        return NSError(domain: domain as String, code: code, userInfo: userInfo)
    }
}
