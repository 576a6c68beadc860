package import PropertyList

/// The kind of an object, by its class and its fields.
///
/// An object has one of the special forms only if it has exactly the fields of that form. Every
/// other object is an object with fields.
package enum ObjectForm {
    case string(Text)
    case data(ArraySlice<UInt8>)
    case array(Elements)
    case set(Elements, isOrdered: Bool)
    case dictionary(keys: Elements, values: Elements)
    case object
}

extension KeyedArchive {
    /// The form of the object with these fields.
    package func form(of fields: Fields) -> ObjectForm {
        let form: ObjectForm? =
            switch knownClass(of: fields) {
            case .array: elements(of: fields).map { .array($0) }
            case .set: elements(of: fields).map { .set($0, isOrdered: false) }
            case .orderedSet: elements(of: fields).map { .set($0, isOrdered: true) }
            case .dictionary: keysAndValues(of: fields).map { .dictionary(keys: $0, values: $1) }
            case .string: contentOfString(fields).flatMap(text(ofContent:)).map { .string($0) }
            case .data: data(of: fields).map { .data($0) }
            case .date, .url, .uuid, .null, nil: nil
            }
        return form ?? .object
    }
}

// MARK: Collections

extension KeyedArchive {
    /// The keys and values of the object with these fields, if it has the form of a dictionary.
    func pairs(of fields: Fields) -> (keys: Elements, values: Elements)? {
        knownClass(of: fields) == .dictionary ? keysAndValues(of: fields) : nil
    }

    /// `NS.keys` and `NS.objects`, or `NS.key.0` and `NS.object.0` and so on, or no field at all.
    private func keysAndValues(of fields: Fields) -> (keys: Elements, values: Elements)? {
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

    /// The elements of the object with these fields, if it has the form of an array or a set.
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

    /// The values of the fields `prefix`0 to `prefix`(count - 1), if all of them exist.
    private func numbered(_ prefix: String, count: Int, of fields: Fields) -> Elements? {
        var elements: [ObjectIndex?] = Array(repeating: nil, count: count)
        for position in 0..<fields.count {
            // Keys that are too long are not read, because many objects may have them.
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
    /// The field with the text of a string object: the string `NS.string`, or the data `NS.bytes`.
    private func contentOfString(_ fields: Fields) -> ObjectIndex? {
        guard fields.count == 2 else { return nil }
        if let field = fields["NS.string", in: list] {
            let content = target(of: field)
            return list.string(at: content) == nil ? nil : content
        }
        guard let content = fields["NS.bytes", in: list].map(target),
            case .data = list.value(at: content)
        else { return nil }
        return content
    }

    /// The text of a string, or of data in UTF-8.
    private func text(ofContent index: ObjectIndex) -> Text? {
        guard case .data(let range) = list.value(at: index) else { return list.text(at: index) }
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

    /// The value of a field, inline or behind a reference.
    ///
    /// A reference to nil stays a reference.
    package func target(of index: ObjectIndex) -> ObjectIndex {
        if case .uid(let uid) = list.value(at: index), !isNil(uid) { object(uid) } else { index }
    }

    /// The text of a dictionary's key, if it is a string or a string object.
    package func text(ofKey index: ObjectIndex) -> Text? {
        contentOfKey(index).flatMap(text(ofContent:))
    }

    /// The string that is a dictionary's key, or the string or data in a string object.
    package func contentOfKey(_ index: ObjectIndex) -> ObjectIndex? {
        let key = target(of: index)
        if list.string(at: key) != nil { return key }
        // An inline dictionary is not an object, whatever its keys are.
        guard case .uid = list.value(at: index),
            // The fields are counted before they are searched, because many dictionaries may have
            // the key.
            let fields = Fields(of: list, at: key), fields.count == 2,
            fields["$class", in: list] != nil, knownClass(of: fields) == .string
        else { return nil }
        return contentOfString(fields)
    }
}

extension Text {
    /// The number after `prefix` in the text, in decimal digits without leading zeros.
    package func number(after prefix: String) -> Int? {
        guard hasPrefix(prefix), let digits = string?.utf8.dropFirst(prefix.utf8.count),
            // Int would also accept a sign.
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int(Substring(digits)), String(number).utf8.elementsEqual(digits)
        else { return nil }
        return number
    }
}
