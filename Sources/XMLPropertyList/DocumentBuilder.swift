internal import PropertyList

/// Makes a binary property list from the elements of a document, while the parser reads them.
///
/// 1. Open collections are on a stack in an array, so the depth of a document causes no recursion.
/// 2. The place of each object is kept, in the order in which the writer numbers objects: contents
///    before collections, and the root last.
struct DocumentBuilder {
    /// A collection that has not ended yet, or the `<plist>` itself.
    private struct Frame {
        enum Kind {
            case plist, array, dictionary
            /// A document without a `<plist>`.
            case bare
        }
        let kind: Kind
        let place: XMLPlace
        var values: [ObjectIndex] = []
        var keys: [ObjectIndex] = []
        /// The places of the keys, only for the outermost dictionary.
        var keyPlaces: [XMLPlace] = []
        /// The positions of the keys, if they are too many for a linear search.
        var positions: [ObjectIndex: Int] = [:]
        /// The key of the next value.
        var key: Key?
        /// The only entry of a dictionary, which is a reference if no other entry follows.
        var uid: (number: Int128, key: XMLPlace, value: XMLPlace)?
    }

    private enum Key {
        case added(ObjectIndex, at: XMLPlace)
        /// A repeated key.
        ///
        /// The next value replaces that at this position.
        case again(Int, at: XMLPlace)
        /// `CF$UID` as the first key.
        ///
        /// It is added when it turns out to be a normal key.
        case uid(at: XMLPlace)

        var place: XMLPlace {
            switch self {
            case .added(_, let place), .again(_, let place), .uid(let place): place
            }
        }
    }

    private static let searchLimit = 16

    private let limits: PropertyList.Limits
    private var writer = PropertyListWriter()
    private var places: [XMLPlace] = []
    private var frames: [Frame] = []
    private var scalar: (element: ScalarElement, place: XMLPlace)?
    /// The text of the scalar so far.
    private var text: [UInt8] = []
    private var root: ObjectIndex?
    private var count = 0
    /// The place of the first repeated key of a dictionary.
    private var repeatedKey: XMLPlace?
    private var rootKeyPlaces: [XMLPlace] = []

    init(limits: PropertyList.Limits) {
        self.limits = limits
    }

    /// The property list, after the document has ended without an error.
    func finish() -> XMLPropertyList.Content {
        guard let root, frames.isEmpty, let rootPlace = places.last else {
            preconditionFailure("The document is not complete.")
        }
        // The root comes last here, but first in the bytes.
        return XMLPropertyList.Content(
            binary: writer.finish(root: root), places: [rootPlace] + places.dropLast(),
            rootKeyPlaces: rootKeyPlaces, repeatedKey: repeatedKey)
    }
}

// MARK: Events

extension DocumentBuilder {
    mutating func begin(_ name: String, at place: XMLPlace) throws(XMLPropertyListError) {
        if let scalar { throw .elementInScalar(scalar.element, at: place) }
        if frames.isEmpty {
            frames.append(Frame(kind: name == "plist" ? .plist : .bare, place: place))
            if name == "plist" { return }
            guard Self.isValue(name) else { throw .notPropertyList(name, at: place) }
        }
        let frame = frames[frames.count - 1]
        guard name != "plist" else { throw .misplacedPlist(at: place) }
        switch name {
        case "array":
            try checkValue(in: frame, at: place)
            try open(.array, at: place)
        case "dict":
            try checkValue(in: frame, at: place)
            try open(.dictionary, at: place)
        case "key":
            guard frame.kind == .dictionary else { throw .keyOutsideDictionary(at: place) }
            if let key = frame.key { throw .keyWithoutValue(at: key.place) }
            scalar = (.key, place)
        default:
            guard let element = ScalarElement(rawValue: name) else {
                throw .unknownElement(name, at: place)
            }
            try checkValue(in: frame, at: place)
            scalar = (element, place)
        }
        count += 1
        guard count <= limits.objectCount else {
            throw .tooManyObjects(limit: limits.objectCount, at: place)
        }
    }

    mutating func characters(
        _ bytes: [UInt8], at place: XMLPlace
    ) throws(XMLPropertyListError) {
        switch scalar?.element {
        case nil:
            guard bytes.allSatisfy(\.isSpace) else { throw .textBetweenElements(at: place) }
        case .yes, .no:
            guard bytes.allSatisfy(\.isSpace) else { throw .textInBoolean(at: place) }
        case .key, .string, .integer, .real, .date, .data:
            text += bytes
        }
    }

    mutating func end(at place: XMLPlace) throws(XMLPropertyListError) {
        if let (element, place) = scalar {
            scalar = nil
            try endScalar(element, at: place)
            text.removeAll(keepingCapacity: true)
        } else {
            try endCollection(at: place)
        }
        // A document has one outermost element. expat refuses a second one.
        if frames.last?.kind == .bare { try endCollection(at: place) }
    }

    private static func isValue(_ name: String) -> Bool {
        name == "dict" || name == "array"
            || ScalarElement(rawValue: name).map { $0 != .key } ?? false
    }

    /// Checks that a value may come next.
    private func checkValue(
        in frame: Frame, at place: XMLPlace
    ) throws(XMLPropertyListError) {
        switch frame.kind {
        case .plist, .bare:
            guard frame.values.isEmpty else { throw .secondValue(at: place) }
        case .dictionary:
            guard frame.key != nil else { throw .valueWithoutKey(at: place) }
        case .array:
            break
        }
    }

    private mutating func open(
        _ kind: Frame.Kind, at place: XMLPlace
    ) throws(XMLPropertyListError) {
        // The <plist> does not count as a level.
        guard frames.count <= limits.depth else { throw .tooDeep(limit: limits.depth, at: place) }
        frames.append(Frame(kind: kind, place: place))
    }
}

// MARK: Collections

extension DocumentBuilder {
    private mutating func endCollection(at place: XMLPlace) throws(XMLPropertyListError) {
        guard let frame = frames.popLast() else {
            preconditionFailure("An element ends without a beginning.")
        }
        switch frame.kind {
        case .plist, .bare:
            guard let value = frame.values.first else { throw .noValue(at: frame.place) }
            root = value
        case .array:
            add(writer.add(array: frame.values), at: frame.place)
        case .dictionary:
            if let key = frame.key { throw .keyWithoutValue(at: key.place) }
            if frames.count == 1 { rootKeyPlaces = frame.keyPlaces }
            if let uid = frame.uid {
                guard let number = UInt64(exactly: uid.number) else {
                    throw .badUID(at: uid.value)
                }
                add(writer.add(uid: number), at: frame.place)
            } else {
                add(writer.add(keys: frame.keys, values: frame.values), at: frame.place)
            }
        }
    }

    /// Adds an object to the innermost collection.
    private mutating func add(_ index: ObjectIndex, at place: XMLPlace) {
        note(index, at: place)
        let innermost = frames.count - 1
        switch frames[innermost].key {
        case .added(let key, let keyPlace): append(key, at: keyPlace)
        case .again(let position, _):
            frames[innermost].values[position] = index
            frames[innermost].key = nil
            return
        case .uid(let keyPlace): addUIDKey(at: keyPlace)
        case nil: break
        }
        frames[innermost].values.append(index)
        frames[innermost].key = nil
    }

    /// Notes the place of a new object.
    private mutating func note(_ index: ObjectIndex, at place: XMLPlace) {
        if index.position == places.count { places.append(place) }
    }

    private mutating func endKey(at place: XMLPlace) throws(XMLPropertyListError) {
        let innermost = frames.count - 1
        let frame = frames[innermost]
        if let uid = frame.uid {
            // Another key follows, so the dictionary is not a reference.
            frames[innermost].uid = nil
            addUIDKey(at: uid.key)
            let number = writer.add(integer: uid.number)
            note(number, at: uid.value)
            frames[innermost].values.append(number)
        } else if frame.keys.isEmpty, text.elementsEqual("CF$UID".utf8) {
            frames[innermost].key = .uid(at: place)
            return
        }
        let key = writer.add(string: Text(String(decoding: text, as: UTF8.self)))
        note(key, at: place)
        guard let position = position(of: key) else {
            frames[innermost].key = .added(key, at: place)
            return
        }
        // A single entry could be left, which would be a reference.
        guard !text.elementsEqual("CF$UID".utf8) else { throw .duplicateKey(at: place) }
        repeatedKey = repeatedKey ?? place
        frames[innermost].key = .again(position, at: place)
    }

    private mutating func addUIDKey(at place: XMLPlace) {
        let key = writer.add(string: "CF$UID")
        note(key, at: place)
        append(key, at: place)
    }

    /// Adds a key to the innermost dictionary.
    private mutating func append(_ key: ObjectIndex, at place: XMLPlace) {
        let innermost = frames.count - 1
        frames[innermost].keys.append(key)
        // Only the <plist> is around it.
        if innermost == 1 { frames[innermost].keyPlaces.append(place) }
    }

    /// The position of a key that the innermost dictionary already has.
    ///
    /// If there are many keys, a new one is noted.
    private mutating func position(of key: ObjectIndex) -> Int? {
        let innermost = frames.count - 1
        let keys = frames[innermost].keys
        guard keys.count >= Self.searchLimit else { return keys.firstIndex(of: key) }
        if frames[innermost].positions.isEmpty {
            frames[innermost].positions = Dictionary(
                uniqueKeysWithValues: keys.enumerated().map { ($1, $0) })
        }
        if let position = frames[innermost].positions[key] { return position }
        frames[innermost].positions[key] = keys.count
        return nil
    }
}

// MARK: Scalars

extension DocumentBuilder {
    private mutating func endScalar(
        _ element: ScalarElement, at place: XMLPlace
    ) throws(XMLPropertyListError) {
        switch element {
        case .key:
            try endKey(at: place)
        case .string:
            let text = Text(String(decoding: text, as: UTF8.self))
            add(writer.add(string: text), at: place)
        case .integer:
            let need: StaticString = "an integer of at most 128 bits, decimal or with 0x"
            add(integer: try content(ScalarElement.integer, element, needs: need, place), at: place)
        case .real:
            let need: StaticString = "a decimal number that a real can hold, nan or infinity"
            let real = try content(ScalarElement.real, element, needs: need, place)
            add(writer.add(real: real), at: place)
        case .date:
            let need: StaticString = "a date such as 2001-01-01T00:00:00Z"
            let seconds = try content(ScalarElement.date, element, needs: need, place)
            add(writer.add(date: seconds), at: place)
        case .data:
            let data = try content(ScalarElement.data, element, needs: "padded base64", place)
            add(writer.add(data: data), at: place)
        case .yes:
            add(writer.add(boolean: true), at: place)
        case .no:
            add(writer.add(boolean: false), at: place)
        }
    }

    /// Adds an integer, which may be the number of a reference.
    private mutating func add(integer: Int128, at place: XMLPlace) {
        if case .uid(let keyPlace) = frames.last?.key {
            frames[frames.count - 1].uid = (integer, keyPlace, place)
            frames[frames.count - 1].key = nil
        } else {
            add(writer.add(integer: integer), at: place)
        }
    }

    private func content<Content>(
        _ read: ([UInt8]) -> Content?, _ element: ScalarElement, needs need: StaticString,
        _ place: XMLPlace
    ) throws(XMLPropertyListError) -> Content {
        guard let content = read(text) else { throw .badValue(element, needs: need, at: place) }
        return content
    }
}
