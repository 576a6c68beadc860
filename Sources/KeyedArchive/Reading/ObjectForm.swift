package import PropertyList

/// What an object of an archive is, by its class and its fields.
///
/// Only the exact class names have a form of their own, and only where the object has exactly the
/// fields of that kind; all else is an object with fields.
package enum ObjectForm {
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
    package func form(of fields: Fields) -> ObjectForm {
        let name = className(of: fields)
        // Names of other lengths cannot be any of these, which spares most objects the search.
        guard (5...19).contains(name.count) else { return .object }
        if isClass(name, "NSArray", "NSMutableArray") {
            return elements(of: fields).map(ObjectForm.array) ?? .object
        }
        if isClass(name, "NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet") {
            return elements(of: fields).map(ObjectForm.set) ?? .object
        }
        if isClass(name, "NSData", "NSMutableData") {
            return data(of: fields).map(ObjectForm.data) ?? .object
        }
        if let text = string(of: fields, className: name) { return .string(text) }
        if let (keys, values) = pairs(of: fields, className: name) {
            return .dictionary(keys: keys, values: values)
        }
        return .object
    }

    private func isClass(_ name: PropertyList.StringRange, _ known: StaticString...) -> Bool {
        known.contains { list.isEqual(name, to: $0) }
    }
}

// MARK: Collections

extension KeyedArchive {
    /// The keys and values of the object with these fields, where it is a dictionary: `NS.keys` and
    /// `NS.objects`; or `NS.key.0` and `NS.object.0` and so on; or no field at all.
    func pairs(
        of fields: Fields, className: PropertyList.StringRange
    ) -> (keys: Elements, values: Elements)? {
        guard isClass(className, "NSDictionary", "NSMutableDictionary") else { return nil }
        if fields.count == 3, let keys = fields["NS.keys", in: list],
            let objects = fields["NS.objects", in: list]
        {
            guard let keys = inlineElements(at: keys), let values = inlineElements(at: objects),
                keys.count == values.count
            else { return nil }
            return (keys, values)
        }
        let (count, remainder) = (fields.count - 1).quotientAndRemainder(dividingBy: 2)
        guard remainder == 0, let keys = numbered("NS.key.", count: count, of: fields),
            let values = numbered("NS.object.", count: count, of: fields)
        else { return nil }
        return (keys, values)
    }

    /// The same without keys.
    private func elements(of fields: Fields) -> Elements? {
        if fields.count == 2, let objects = fields["NS.objects", in: list] {
            return inlineElements(at: objects)
        }
        return numbered("NS.object.", count: fields.count - 1, of: fields)
    }

    private func inlineElements(at index: ObjectIndex) -> Elements? {
        if case .array(let references) = list.value(at: index) {
            .references(references)
        } else {
            nil
        }
    }

    /// What is in the fields `prefix`0 to `prefix`(count - 1), where all of them are there.
    private func numbered(_ prefix: String, count: Int, of fields: Fields) -> Elements? {
        var elements: [ObjectIndex?] = Array(repeating: nil, count: count)
        for position in 0..<fields.count {
            // Keys that are too long are not read: many objects may have them.
            guard case .string(let range) = list.value(at: fields.key(at: position, in: list)),
                range.count <= prefix.utf8.count + 10,
                let number = list.text(of: range).number(after: prefix), number < count
            else { continue }
            elements[number] = fields.value(at: position, in: list)
        }
        let present = elements.compactMap(\.self)
        return present.count == count ? .listed(present) : nil
    }
}

// MARK: Strings and data

extension KeyedArchive {
    /// `NS.string`, or `NS.bytes` in UTF-8.
    private func string(of fields: Fields, className: PropertyList.StringRange) -> Text? {
        guard fields.count == 2, isClass(className, "NSString", "NSMutableString") else {
            return nil
        }
        if let field = fields["NS.string", in: list] { return list.text(at: target(of: field)) }
        guard let field = fields["NS.bytes", in: list],
            case .data(let range) = list.value(at: target(of: field))
        else { return nil }
        return String(validating: list.data(of: range), as: UTF8.self).map { Text($0) }
    }

    /// `NS.data` or `NS.bytes`.
    private func data(of fields: Fields) -> ArraySlice<UInt8>? {
        guard fields.count == 2,
            let field = fields["NS.data", in: list] ?? fields["NS.bytes", in: list],
            case .data(let range) = list.value(at: target(of: field))
        else { return nil }
        return list.data(of: range)
    }

    /// What a field holds, whether inline or behind a reference; nil is left as it is.
    package func target(of index: ObjectIndex) -> ObjectIndex {
        if case .uid(let uid) = list.value(at: index), !isNil(uid) { object(uid) } else { index }
    }

    /// The text of a dictionary's key, where that is a string or an object that is one.
    package func text(ofKey index: ObjectIndex) -> Text? {
        let key = target(of: index)
        if let text = list.text(at: key) { return text }
        // What stands inline is no object, whatever its entries are called.
        guard case .uid = list.value(at: index),
            // The fields are counted before they are searched: many dictionaries may have the key.
            let fields = Fields(of: list, at: key), fields.count == 2,
            fields["$class", in: list] != nil
        else { return nil }
        return string(of: fields, className: className(of: fields))
    }
}

extension Text {
    /// The number that the text spells after `prefix`, in decimal digits without leading zeros.
    package func number(after prefix: String) -> Int? {
        guard hasPrefix(prefix), let digits = string?.utf8.dropFirst(prefix.utf8.count),
            // Int would take a sign too.
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int(Substring(digits)), String(number).utf8.elementsEqual(digits)
        else { return nil }
        return number
    }
}
