internal import PropertyList

/// What an object of an archive is, by its class and its fields.
///
/// Only the exact class names have a form of their own, and only where the object has exactly the
/// fields of that kind; all else is an object with fields.
enum ObjectForm {
    case string(Text)
    case data(ArraySlice<UInt8>)
    case array(Elements)
    /// A set, ordered or not.
    case set(Elements)
    case dictionary(keys: Elements, values: Elements)
    case object
}

extension KeyedArchive {
    /// What the object with these fields is.
    func form(of fields: Fields) -> ObjectForm {
        let name = className(of: fields)
        func isClass(_ names: StaticString...) -> Bool {
            names.contains { list.isEqual(name, to: $0) }
        }
        // Names of other lengths cannot be any of these, which spares most objects the search.
        guard (5...19).contains(name.count) else { return .object }
        if isClass("NSArray", "NSMutableArray") {
            return elements(of: fields).map(ObjectForm.array) ?? .object
        }
        if let (keys, values) = pairs(of: fields) {
            return .dictionary(keys: keys, values: values)
        }
        if isClass("NSString", "NSMutableString") {
            return string(of: fields).map(ObjectForm.string) ?? .object
        }
        if isClass("NSData", "NSMutableData") {
            return data(of: fields).map(ObjectForm.data) ?? .object
        }
        if isClass("NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet") {
            return elements(of: fields).map(ObjectForm.set) ?? .object
        }
        return .object
    }

    /// `NS.objects`; or `NS.object.0`, `NS.object.1` and so on; or no field at all.
    private func elements(of fields: Fields) -> Elements? {
        if fields.count == 2, let objects = fields["NS.objects"] { return references(at: objects) }
        return numbered("NS.object.", count: fields.count - 1, of: fields).map(Elements.listed)
    }

    /// The keys and values of the object with these fields, where it is a dictionary: as the elements
    /// above, with `NS.keys` or `NS.key.0` beside them, and as many.
    func pairs(of fields: Fields) -> (keys: Elements, values: Elements)? {
        let name = className(of: fields)
        guard
            list.isEqual(name, to: "NSDictionary") || list.isEqual(name, to: "NSMutableDictionary")
        else { return nil }
        if fields.count == 3, let keys = fields["NS.keys"], let objects = fields["NS.objects"] {
            guard let keys = references(at: keys), let values = references(at: objects),
                keys.count == values.count
            else { return nil }
            return (keys, values)
        }
        let (count, remainder) = (fields.count - 1).quotientAndRemainder(dividingBy: 2)
        guard remainder == 0, let keys = numbered("NS.key.", count: count, of: fields),
            let values = numbered("NS.object.", count: count, of: fields)
        else { return nil }
        return (.listed(keys), .listed(values))
    }

    /// The elements of an inline array that holds nothing but references to objects.
    private func references(at index: ObjectIndex) -> Elements? {
        guard case .array(let references) = list.value(at: index),
            (0..<references.count).allSatisfy({ isUID(list.element($0, of: references)) })
        else { return nil }
        return .references(references)
    }

    /// The references in the fields `prefix`0 to `prefix`(count - 1), where all of them are there.
    private func numbered(
        _ prefix: String, count: Int, of fields: Fields
    ) -> [ObjectIndex]? {
        var elements: [ObjectIndex?] = Array(repeating: nil, count: count)
        for position in 0..<fields.count {
            // Keys that are too long are not read: many objects may have them.
            guard case .string(let range) = list.value(at: fields.key(at: position)),
                range.count <= prefix.utf8.count + 10,
                let number = list.text(of: range).number(after: prefix), number < count,
                isUID(fields.value(at: position))
            else { continue }
            elements[number] = fields.value(at: position)
        }
        let present = elements.compactMap(\.self)
        return present.count == count ? present : nil
    }

    private func isUID(_ index: ObjectIndex) -> Bool {
        if case .uid = list.value(at: index) { true } else { false }
    }

    /// `NS.string`, or `NS.bytes` in UTF-8.
    private func string(of fields: Fields) -> Text? {
        guard fields.count == 2 else { return nil }
        if let field = fields["NS.string"] { return list.text(at: target(of: field)) }
        guard let field = fields["NS.bytes"],
            case .data(let range) = list.value(at: target(of: field))
        else { return nil }
        return String(validating: list.data(of: range), as: UTF8.self).map { Text($0) }
    }

    /// `NS.data` or `NS.bytes`.
    private func data(of fields: Fields) -> ArraySlice<UInt8>? {
        guard fields.count == 2, let field = fields["NS.data"] ?? fields["NS.bytes"],
            case .data(let range) = list.value(at: target(of: field))
        else { return nil }
        return list.data(of: range)
    }

    /// What a field holds, whether inline or behind a reference.
    private func target(of index: ObjectIndex) -> ObjectIndex {
        if case .uid(let uid) = list.value(at: index) { object(uid) } else { index }
    }

    /// The text where the element is a reference to a string or to an object that is one.
    func text(ofElement index: ObjectIndex) -> Text? {
        guard case .uid(let uid) = list.value(at: index), !isNil(uid) else { return nil }
        switch list.value(at: object(uid)) {
        case .string(let range):
            return list.text(of: range)
        case .dictionary(let keys, let values):
            let fields = Fields(of: list, keys: keys, values: values)
            guard fields["$class"] != nil, case .string(let text) = form(of: fields) else {
                return nil
            }
            return text
        default:
            return nil
        }
    }
}

extension Text {
    /// The number that the text spells after `prefix`, in decimal digits without leading zeros.
    fileprivate func number(after prefix: String) -> Int? {
        guard hasPrefix(prefix), let digits = string?.utf8.dropFirst(prefix.utf8.count),
            let number = Int(Substring(digits)), String(number).utf8.elementsEqual(digits)
        else { return nil }
        return number
    }
}
