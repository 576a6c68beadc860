public import PropertyList

/// Makes an archive from a value that comes in events.
///
/// The keys of a dictionary may come in any order, so it is decided at its end what it is: a
/// dictionary, an object, or a scalar that is spelled as one (`{"$data": …}`). The same value gives
/// the same bytes, whatever the order.
///
/// ```swift
/// var builder = ValueFormBuilder()
/// try builder.beginDictionary()
/// try builder.key("$class")
/// try builder.string("Account")
/// try builder.key("username")
/// try builder.string("ada")
/// try builder.endDictionary()
/// let archive = builder.finish()
/// ```
///
/// The events throw ``ValueFormError`` if the value cannot be an archive. After that the builder
/// cannot be used.
public struct ValueFormBuilder: ValueFormSink {
    private struct Frame {
        let isDictionary: Bool
        /// The index of the frame's first child in `children`.
        let start: Int
        /// Whether this is the dictionary under `$top`, whose keys are those of the archive.
        let isTop: Bool
        var key: Text?
        /// The keys so far, if they are too many for a linear search.
        var keys: Set<Text> = []
    }

    private static let searchLimit = 16

    private let limits: ValueFormLimits
    private let datesAreObjects: Bool
    private var tree = ValueTree()
    private var frames: [Frame] = []
    /// The children of all open frames.
    ///
    /// Elements of arrays have an empty name.
    private var children: [ValueTree.Field] = []
    private var root: ValueTree.NodeIndex?
    private var size = 0

    /// Makes a builder that expects one value.
    public init(limits: ValueFormLimits = .standard) {
        self.init(limits: limits, datesAreObjects: false)
    }

    /// Makes a builder that expects one value.
    ///
    /// - Parameter datesAreObjects: Whether a date of the property list that is the value, an element or an
    ///   entry becomes an NSDate object. The field of an object stays what it is.
    package init(limits: ValueFormLimits = .standard, datesAreObjects: Bool) {
        self.limits = limits
        self.datesAreObjects = datesAreObjects
    }

    /// How many values have come so far, including nested ones.
    package var count: Int { tree.nodes.count }

    /// The archive of the value, after all of its events.
    public func finish() -> KeyedArchive {
        guard let root, frames.isEmpty else {
            preconditionFailure("The value is not complete.")
        }
        guard datesAreObjects else { return tree.archive(root: root) }
        var tree = tree
        tree.makeDateObject(of: root)
        return tree.archive(root: root)
    }
}

// MARK: Events

extension ValueFormBuilder {
    /// Takes nil.
    public mutating func null() throws(ValueFormError) {
        try add(.scalar(.null), size: 0)
    }

    /// Takes a boolean.
    public mutating func boolean(_ value: Bool) throws(ValueFormError) {
        try add(.scalar(.boolean(value)), size: 0)
    }

    /// Takes an integer.
    public mutating func integer(_ value: Int128) throws(ValueFormError) {
        try add(.scalar(.integer(value)), size: 8)
    }

    /// Takes a real.
    public mutating func real(_ value: Double) throws(ValueFormError) {
        try add(.scalar(.real(value)), size: 0)
    }

    /// Takes a string.
    public mutating func string(_ value: Text) throws(ValueFormError) {
        try add(.scalar(.string(value)), size: value.byteCount)
    }

    /// Takes data.
    public mutating func data(_ value: ArraySlice<UInt8>) throws(ValueFormError) {
        try add(.scalar(.data(value)), size: value.count)
    }

    /// Takes the bytes of a field.
    public mutating func bytes(_ value: ArraySlice<UInt8>) throws(ValueFormError) {
        try add(.inlineBytes(value), size: value.count)
    }

    /// Takes a date of the property list, in seconds since 2001-01-01 00:00:00 UTC.
    public mutating func date(_ secondsSince2001: Double) throws(ValueFormError) {
        try add(.scalar(.date(secondsSince2001)), size: 0)
    }

    /// Refuses the event: references are only for output.
    public mutating func reference(to uid: UInt64) throws(ValueFormError) {
        throw .reference
    }

    /// Begins an array.
    public mutating func beginArray() throws(ValueFormError) {
        try open(isDictionary: false)
    }

    /// Ends the innermost array.
    public mutating func endArray() throws(ValueFormError) {
        let (_, elements) = close(isDictionary: false)
        for element in elements {
            if case .inlineBytes = tree.nodes[element.node] { throw .inlineBytesInCollection }
            if datesAreObjects { tree.makeDateObject(of: element.node) }
        }
        let range = tree.add(elements)
        try add(.array(range), size: 0)
    }

    /// Begins a dictionary.
    public mutating func beginDictionary() throws(ValueFormError) {
        try open(isDictionary: true)
    }

    /// Takes the key of the next value.
    public mutating func key(_ key: Text) throws(ValueFormError) {
        guard var frame = frames.popLast(), frame.isDictionary, frame.key == nil else {
            preconditionFailure("A key came unexpectedly.")
        }
        try checkSpelling(of: key)
        guard !isTaken(key, in: &frame) else { throw .duplicateKey }
        try spend(key.byteCount)
        frame.key = key
        frames.append(frame)
    }

    /// Ends the innermost dictionary.
    public mutating func endDictionary() throws(ValueFormError) {
        var (frame, entries) = close(isDictionary: true)
        entries.sort { $0.name < $1.name }
        let node = try frame.isTop ? top(entries) : dictionary(entries, isRoot: frames.isEmpty)
        try add(node, size: 0)
    }
}

// MARK: Frames

extension ValueFormBuilder {
    private mutating func add(_ node: ValueTree.Node, size: Int) throws(ValueFormError) {
        try spend(size)
        guard tree.nodes.count < limits.count else { throw .tooMany(limit: limits.count) }
        let index = tree.add(node)
        guard var frame = frames.popLast() else {
            precondition(root == nil, "A second value came.")
            if case .inlineBytes = node { throw .inlineBytesInCollection }
            root = index
            return
        }
        precondition(!frame.isDictionary || frame.key != nil, "A value came without its key.")
        children.append(ValueTree.Field(name: frame.key ?? "", node: index))
        frame.key = nil
        frames.append(frame)
    }

    private mutating func open(isDictionary: Bool) throws(ValueFormError) {
        try spend(0)
        guard frames.count < limits.depth else { throw .tooDeep(limit: limits.depth) }
        let isTop = isDictionary && frames.count == 1 && frames.last?.key == "$top"
        frames.append(Frame(isDictionary: isDictionary, start: children.count, isTop: isTop))
    }

    private mutating func close(isDictionary: Bool) -> (Frame, [ValueTree.Field]) {
        guard let frame = frames.popLast(), frame.isDictionary == isDictionary, frame.key == nil
        else { preconditionFailure("An end came unexpectedly.") }
        let members = Array(children[frame.start...])
        children.removeSubrange(frame.start...)
        return (frame, members)
    }

    /// Whether the frame already has this key.
    ///
    /// If there are many keys, the key is noted.
    private func isTaken(_ key: Text, in frame: inout Frame) -> Bool {
        let earlier = children[frame.start...]
        guard earlier.count >= Self.searchLimit else {
            return earlier.contains { $0.name == key }
        }
        if frame.keys.isEmpty { frame.keys = Set(earlier.map(\.name)) }
        return !frame.keys.insert(key).inserted
    }

    private mutating func spend(_ more: Int) throws(ValueFormError) {
        let (sum, overflow) = size.addingReportingOverflow(more + 8)
        guard !overflow, sum <= limits.size else { throw .tooLarge(limit: limits.size) }
        size = sum
    }
}

/// The meaning of dictionaries with keys that begin with `$`.
extension ValueFormBuilder {
    /// Refuses a key that has no meaning anywhere.
    private func checkSpelling(of key: Text) throws(ValueFormError) {
        guard key.hasPrefix("$") else { return }
        switch key {
        case "$ref": throw .reference
        case "$classdef": throw .classRecord
        case "$class", "$value", "$bytes", "$data", "$date", "$real", "$top": return
        default:
            guard key.isFieldName else { throw .unknownKey }
        }
    }

    /// The meaning of a dictionary with these entries, which are sorted by key.
    private mutating func dictionary(
        _ entries: [ValueTree.Field], isRoot: Bool
    ) throws(ValueFormError) -> ValueTree.Node {
        guard entries.contains(where: { $0.name.hasPrefix("$") }) else {
            try refuseInlineBytes(in: entries)
            if datesAreObjects { for entry in entries { tree.makeDateObject(of: entry.node) } }
            return .dictionary(tree.add(entries))
        }
        if let entry = entries.first(where: { $0.name == "$class" }) {
            return try object(of: entry.node, entries.filter { $0.name != "$class" })
        }
        guard entries.count == 1, let entry = entries.first else { throw .misplacedKey }
        return try spelledScalar(entry, isRoot: isRoot)
    }

    /// The entries of `$top`.
    ///
    /// An archiver accepts any keys there.
    private mutating func top(_ entries: [ValueTree.Field]) throws(ValueFormError) -> ValueTree.Node
    {
        guard !entries.isEmpty else { throw .badValue("$top", needs: "a dictionary with a key") }
        for entry in entries where entry.name.hasPrefix("$") && !entry.name.isFieldName {
            throw .misplacedKey
        }
        return .top(tree.add(entries))
    }

    /// A dictionary with one entry, which spells a value that has no other spelling.
    private mutating func spelledScalar(
        _ entry: ValueTree.Field, isRoot: Bool
    ) throws(ValueFormError) -> ValueTree.Node {
        let node = tree.nodes[entry.node]
        switch entry.name {
        case "$data":
            return .scalar(.data(try bytes(node, of: "$data")))
        case "$bytes":
            return .inlineBytes(try bytes(node, of: "$bytes"))
        case "$date":
            return .scalar(.date(try seconds(node)))
        case "$real":
            return .scalar(.real(try unusualReal(node)))
        case "$top":
            guard isRoot else { throw .topNotAtRoot }
            guard case .top = node else { throw .badValue("$top", needs: "a dictionary") }
            return node
        default:
            throw .misplacedKey
        }
    }

    /// An object of the class in `$class`.
    ///
    /// Nil and numbers can be spelled like this, too.
    private mutating func object(
        of classNode: ValueTree.NodeIndex, _ fields: [ValueTree.Field]
    ) throws(ValueFormError) -> ValueTree.Node {
        guard case .scalar(.string(let name)) = tree.nodes[classNode], name.byteCount > 0 else {
            throw .badValue("$class", needs: "the name of a class")
        }
        if name == "$null" {
            if !fields.isEmpty { throw .misplacedKey }
            return .scalar(.null)
        }
        guard !name.hasPrefix("$") else {
            throw .badValue("$class", needs: "the name of a class, or $null")
        }
        if name == "NSNumber", fields.count == 1, let field = fields.first, field.name == "$value" {
            return .numberObject(try number(tree.nodes[field.node]))
        }
        if name == "NSDate", fields.count == 1, let field = fields.first, field.name == "$date" {
            return try dateObject(field.node)
        }
        for field in fields where field.name.hasPrefix("$") && !field.name.isFieldName {
            throw .misplacedKey
        }
        if name == "NSDictionary" || name == "NSMutableDictionary" { try checkPairs(fields) }
        return .object(className: name, tree.add(fields))
    }

    /// A date object whose time is spelled like a date of a property list.
    private mutating func dateObject(
        _ date: ValueTree.NodeIndex
    ) throws(ValueFormError) -> ValueTree.Node {
        // It stays one value, because the limit counts values.
        tree.replace(date, with: .scalar(.real(try seconds(tree.nodes[date]))))
        return .object(
            className: "NSDate", tree.add([ValueTree.Field(name: "NS.time", node: date)]))
    }

    private func checkPairs(_ fields: [ValueTree.Field]) throws(ValueFormError) {
        func count(_ name: Text) -> Int? {
            guard let field = fields.first(where: { $0.name == name }),
                case .array(let elements) = tree.nodes[field.node]
            else { return nil }
            return elements.count
        }
        guard count("NS.keys") == count("NS.objects") else { throw .unevenPairs }
    }

    private func refuseInlineBytes(in entries: [ValueTree.Field]) throws(ValueFormError) {
        for entry in entries {
            if case .inlineBytes = tree.nodes[entry.node] { throw .inlineBytesInCollection }
        }
    }
}

// MARK: Scalars

extension ValueFormBuilder {
    private func number(_ node: ValueTree.Node) throws(ValueFormError) -> Scalar {
        guard case .scalar(let scalar) = node else {
            throw .badValue("$value", needs: "a number or a boolean")
        }
        switch scalar {
        case .boolean, .integer, .real: return scalar
        case .null, .string, .data, .date:
            throw .badValue("$value", needs: "a number or a boolean")
        }
    }

    /// Bytes as they are, as in D-Bus, or base64, as in JSON.
    private func bytes(
        _ node: ValueTree.Node, of key: StaticString
    ) throws(ValueFormError) -> ArraySlice<UInt8> {
        switch node {
        case .scalar(.data(let data)):
            return data
        case .scalar(.string(let text)):
            if let bytes = text.string.flatMap(Base64.decode) { return bytes[...] }
            fallthrough
        default:
            throw .badValue(key, needs: "bytes, in JSON as padded base64")
        }
    }

    private func seconds(_ node: ValueTree.Node) throws(ValueFormError) -> Double {
        switch node {
        case .scalar(.real(let seconds)): return seconds
        case .scalar(.integer(let seconds)): return Double(seconds)
        case .scalar(.string(let text)):
            if let seconds = text.string.flatMap(ISODate.seconds) { return seconds }
            fallthrough
        default:
            throw .badValue(
                "$date",
                needs:
                    "a date and time with a zone, such as \"2024-02-29T12:00:01Z\", or the number "
                    + "of seconds since 2001")
        }
    }

    private func unusualReal(_ node: ValueTree.Node) throws(ValueFormError) -> Double {
        if case .scalar(.string(let text)) = node {
            switch text {
            case "nan": return .nan
            case "inf": return .infinity
            case "-inf": return -.infinity
            default: break
            }
        }
        throw .badValue("$real", needs: "\"nan\", \"inf\" or \"-inf\"")
    }
}

extension Text {
    /// Whether an archiver writes fields with this name: `$0`, `$1` and so on for fields without a
    /// key, and a second `$` for keys that begin with one.
    package var isFieldName: Bool {
        guard !hasPrefix("$$") else { return true }
        guard let digits = string?.utf8.dropFirst(), !digits.isEmpty else { return false }
        return digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
