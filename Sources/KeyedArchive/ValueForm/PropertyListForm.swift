package import PropertyList

/// Walks over a property list, and passes its values to a sink in the value form.
///
/// Open collections are on a stack in an array, so the depth of a list causes no recursion. If
/// collections are shared, a sink that limits its size also limits the time.
package struct PropertyListForm {
    /// A collection whose values are being passed on.
    private struct Frame {
        enum End {
            case array
            case dictionary
            /// An array that is the last field of an object.
            case objectOfArray
        }
        let keys: PropertyList.References?
        let values: PropertyList.References
        let end: End
        var next = 0
    }

    private let list: PropertyList
    private let readsSpellings: Bool

    /// Prepares to walk over values of a list.
    ///
    /// - Parameter readsSpellings: Whether keys that begin with `$` spell objects, as in JSON. Otherwise such a
    ///   dictionary is an application's own.
    package init(of list: PropertyList, readsSpellings: Bool = false) {
        self.list = list
        self.readsSpellings = readsSpellings
    }

    /// Passes on the value at `root`.
    ///
    /// - Throws: The errors of the sink, and ``ReferenceOutsideArchive``.
    package func render(_ root: ObjectIndex, into sink: inout some ValueFormSink) throws {
        var stack: [Frame] = []
        try begin(root, on: &stack, into: &sink)
        while var frame = stack.popLast() {
            guard frame.next < frame.values.count else {
                try Self.end(frame, into: &sink)
                continue
            }
            let position = frame.next
            frame.next += 1
            stack.append(frame)
            if let keys = frame.keys { try sink.key(text(list.element(position, of: keys))) }
            try begin(list.element(position, of: frame.values), on: &stack, into: &sink)
        }
    }

    private func begin(
        _ index: ObjectIndex, on stack: inout [Frame], into sink: inout some ValueFormSink
    ) throws {
        switch list.value(at: index) {
        case .boolean(let value): try sink.boolean(value)
        case .integer(let value): try sink.integer(value)
        case .real(let value): try sink.real(value)
        case .singleReal(let value): try sink.real(Double(value))
        case .date(let value): try sink.dateObject(value)
        case .data(let range): try sink.data(list.data(of: range))
        case .string(let range): try sink.string(list.text(of: range))
        case .uid: throw ReferenceOutsideArchive()
        case .array(let elements):
            try sink.beginArray()
            stack.append(Frame(keys: nil, values: elements, end: .array))
        case .set(let elements): try beginSet("NSSet", elements, on: &stack, into: &sink)
        case .orderedSet(let elements):
            try beginSet("NSOrderedSet", elements, on: &stack, into: &sink)
        case .dictionary(let keys, let values):
            guard list.spelledReference(keys: keys, values: values) == nil else {
                throw ReferenceOutsideArchive()
            }
            try sink.beginDictionary()
            let names = list.elements(of: keys).map(text)
            if !readsSpellings, names.contains(where: { $0.hasPrefix("$") }) {
                try sink.beginPairs(names)
                stack.append(Frame(keys: nil, values: values, end: .objectOfArray))
            } else {
                stack.append(Frame(keys: keys, values: values, end: .dictionary))
            }
        }
    }

    private func beginSet(
        _ name: Text, _ elements: PropertyList.References, on stack: inout [Frame],
        into sink: inout some ValueFormSink
    ) throws {
        try sink.beginDictionary()
        try sink.key("$class")
        try sink.string(name)
        try sink.key("NS.objects")
        try sink.beginArray()
        stack.append(Frame(keys: nil, values: elements, end: .objectOfArray))
    }

    private static func end(_ frame: Frame, into sink: inout some ValueFormSink) throws {
        switch frame.end {
        case .array: try sink.endArray()
        case .dictionary: try sink.endDictionary()
        case .objectOfArray:
            try sink.endArray()
            try sink.endDictionary()
        }
    }

    /// The text of a key; all keys are strings.
    private func text(_ key: ObjectIndex) -> Text {
        guard let text = list.text(at: key) else {
            preconditionFailure("The key of a dictionary is not a string.")
        }
        return text
    }
}

/// A reference of a keyed archive is not inside an archive.
package struct ReferenceOutsideArchive: Error, CustomStringConvertible {
    /// The message.
    package var description: String {
        "The property list has a reference (CF$UID) outside a keyed archive, where it has no meaning."
    }
}
