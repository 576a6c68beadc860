internal import Foundation
internal import KeyedArchive
internal import PropertyList

/// The objects of Foundation's classes that are made here, and not by themselves.
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
        case .date, .url, .uuid, .error, .queryItem:
            let decoder = FieldDecoder(self, fields: fields, uid: 0, at: index, allowed: allowed)
            let object = object(of: kind, with: decoder, at: index)
            if object == nil, log.first == nil {
                fail(.badObject(name, needs: "a field is missing or wrong"), at: index)
            }
            return object.map { Made(object: $0) }
        }
    }

    /// Makes an object of those classes that are spelled in several ways.
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

    /// Makes an object of its fields; nil where one is missing or wrong.
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
        // Both are put together when the URL is made, and many URLs can share them.
        let size = relative.utf8.count + (base?.absoluteString.utf8.count ?? 0)
        // An NSURL that is no URL traps as soon as a collection has it.
        guard spend(bytes: size), URL(string: relative, relativeTo: base) != nil else { return nil }
        return NSURL(string: relative, relativeTo: base)
    }

    /// The URL itself where it has no base of its own, else what it stands for: a chain of bases
    /// would be put together anew at each of its URLs.
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
        // What Foundation allows here, and what the caller does.
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
