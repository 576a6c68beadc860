internal import PropertyList

/// The walk over an archive's graph that shows it as values.
///
/// 1. The stack is an array: the depth of the graph costs memory, and is limited.
/// 2. Whatever is read is paid for from a budget, so that a bomb of shared objects ends in an error.
/// 3. An object is shown inside itself as a reference, so the walk ends for circles too.
struct ValueFormRenderer {
    /// Archivers keep what stands inline in an object apart from what a field refers to; elements of
    /// collections are always objects, and shown without that difference.
    enum Position {
        case element
        case field
    }

    /// Something to show.
    enum Item {
        case value(ObjectIndex, Position)
        case text(Text)
        case array(Elements)
        case dictionary([Entry])
    }

    struct Entry {
        let key: Text
        let item: Item
    }

    /// A collection that is being shown.
    private struct Frame {
        enum Content {
            case array(Elements)
            case dictionary([Entry])
        }
        let content: Content
        /// The object that the collection is, to be left at its end.
        let uid: UInt64?
        var next = 0
    }

    let archive: KeyedArchive
    let list: PropertyList
    private let limits: ValueFormLimits
    private var budget: Int
    private var stack: [Frame] = []
    /// For each object, whether it is on the stack.
    private var isOpen: [Bool]
    /// Where the object begins that was met last, for errors.
    private(set) var byteOffset = 0

    init(of archive: KeyedArchive, limits: ValueFormLimits) {
        self.archive = archive
        list = archive.list
        self.limits = limits
        budget = limits.size
        isOpen = Array(repeating: false, count: archive.objects.count)
    }

    mutating func render(into sink: inout some ValueFormSink) throws {
        try show(try rootItem(), of: nil, into: &sink)
        while var frame = stack.popLast() {
            guard let (key, item) = nextItem(of: &frame) else {
                try close(frame, into: &sink)
                continue
            }
            stack.append(frame)
            if let key { try sink.key(key) }
            try show(item, of: nil, into: &sink)
        }
    }

    /// What stands under the one key `root`, or the whole `$top`.
    private mutating func rootItem() throws(ArchiveError) -> Item {
        let top = Fields(keys: archive.topKeys, values: archive.topValues)
        if top.count == 1, let root = top["root", in: list], case .uid = list.value(at: root) {
            return .value(root, .element)
        }
        return .dictionary([Entry(key: "$top", item: .dictionary(try entries(of: top, at: .field)))]
        )
    }

    private func nextItem(of frame: inout Frame) -> (key: Text?, item: Item)? {
        defer { frame.next += 1 }
        switch frame.content {
        case .array(let elements):
            guard frame.next < elements.count else { return nil }
            return (nil, .value(elements.element(frame.next, in: list), .element))
        case .dictionary(let entries):
            guard frame.next < entries.count else { return nil }
            return (entries[frame.next].key, entries[frame.next].item)
        }
    }

    /// Takes `size` bytes and what one event costs from the budget.
    mutating func spend(_ size: Int) throws(ArchiveError) {
        let (rest, overflow) = budget.subtractingReportingOverflow(size + 8)
        guard !overflow, rest >= 0 else {
            throw .outputTooLarge(limit: limits.size, at: byteOffset)
        }
        budget = rest
    }
}

// MARK: Showing

extension ValueFormRenderer {
    /// Shows a scalar, or begins a collection and leaves the rest of it on the stack.
    private mutating func show(
        _ item: Item, of uid: UInt64?, into sink: inout some ValueFormSink
    ) throws {
        switch item {
        case .value(let index, let position):
            try show(index, at: position, into: &sink)
        case .text(let text):
            try spend(text.byteCount)
            try sink.string(text)
        case .array(let elements):
            try open(.array(elements), of: uid)
            try sink.beginArray()
        case .dictionary(let entries):
            try open(.dictionary(entries), of: uid)
            try sink.beginDictionary()
        }
    }

    private mutating func open(_ content: Frame.Content, of uid: UInt64?) throws(ArchiveError) {
        try spend(0)
        guard stack.count < limits.depth else {
            throw .outputTooDeep(limit: limits.depth, at: byteOffset)
        }
        if let uid { isOpen[Int(uid)] = true }
        stack.append(Frame(content: content, uid: uid))
    }

    private mutating func close(_ frame: Frame, into sink: inout some ValueFormSink) throws {
        if let uid = frame.uid { isOpen[Int(uid)] = false }
        switch frame.content {
        case .array: try sink.endArray()
        case .dictionary: try sink.endDictionary()
        }
    }

    /// Shows what stands at a place of the property list: a reference or an inline value.
    private mutating func show(
        _ index: ObjectIndex, at position: Position, into sink: inout some ValueFormSink
    ) throws {
        byteOffset = list.byteOffset(of: index)
        let value = list.value(at: index)
        switch value {
        case .uid(let uid):
            try show(uid: uid, at: position, into: &sink)
        case .data(let range) where position == .field:
            try spend(range.count)
            try sink.bytes(list.data(of: range))
        default:
            try show(value, of: nil, into: &sink)
        }
    }

    private mutating func show(
        uid: UInt64, at position: Position, into sink: inout some ValueFormSink
    ) throws {
        guard !archive.isNil(uid) else {
            try spend(0)
            return try sink.null()
        }
        guard !isOpen[Int(uid)] else {
            try spend(0)
            return try sink.reference(to: uid)
        }
        let index = archive.object(uid)
        let value = list.value(at: index)
        byteOffset = list.byteOffset(of: index)
        switch value {
        case .boolean, .integer, .real, .singleReal:
            guard position == .field else { return try show(value, of: uid, into: &sink) }
            // A number behind a field is an object; a plain number there would be inline.
            let number = Item.value(index, .element)
            let entries = [
                Entry(key: "$class", item: .text("NSNumber")), Entry(key: "$value", item: number),
            ]
            try show(.dictionary(entries), of: nil, into: &sink)
        case .dictionary(let keys, let values):
            try show(Fields(keys: keys, values: values), of: uid, into: &sink)
        default:
            try show(value, of: uid, into: &sink)
        }
    }

    /// Shows a value itself, what it refers to being elements.
    private mutating func show(
        _ value: PropertyList.Value, of uid: UInt64?, into sink: inout some ValueFormSink
    ) throws {
        try spend(0)
        switch value {
        case .boolean(let value): try sink.boolean(value)
        case .integer(let value): try sink.integer(value)
        case .real(let value): try sink.real(value)
        case .singleReal(let value): try sink.real(Double(value))
        case .date(let value): try sink.date(value)
        case .data(let range):
            try spend(range.count)
            try sink.data(list.data(of: range))
        case .string(let range):
            try show(.text(list.text(of: range)), of: uid, into: &sink)
        case .array(let elements):
            try show(.array(.references(elements)), of: uid, into: &sink)
        case .set(let elements):
            try show(set("NSSet", .references(elements)), of: uid, into: &sink)
        case .orderedSet(let elements):
            try show(set("NSOrderedSet", .references(elements)), of: uid, into: &sink)
        case .dictionary(let keys, let values):
            try show(try inline(keys, values), of: uid, into: &sink)
        case .uid:
            preconditionFailure("A UID was taken for a value.")
        }
    }

    /// Shows an object, or the class record that stands for one.
    private mutating func show(
        _ fields: Fields, of uid: UInt64, into sink: inout some ValueFormSink
    ) throws {
        let name = list.text(of: archive.className(of: fields))
        guard fields["$class", in: list] != nil else {
            let entry = Entry(key: "$classdef", item: .text(name))
            return try show(.dictionary([entry]), of: uid, into: &sink)
        }
        try spend(fields.count)
        switch archive.form(of: fields) {
        case .string(let text):
            try show(.text(text), of: uid, into: &sink)
        case .data(let data):
            try spend(data.count)
            try sink.data(data)
        case .array(let elements):
            try show(.array(elements), of: uid, into: &sink)
        case .set(let elements):
            try show(set(name, elements), of: uid, into: &sink)
        case .dictionary(let keys, let values):
            try show(try dictionary(name, keys, values), of: uid, into: &sink)
        case .object:
            try show(.dictionary(try entries(of: fields, className: name)), of: uid, into: &sink)
        }
    }
}
