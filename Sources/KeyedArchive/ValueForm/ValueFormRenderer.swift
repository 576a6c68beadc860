internal import PropertyList

extension KeyedArchive {
    /// Passes the value form of the archive to a sink.
    ///
    /// A shared object is shown at each of its places, so the output can be far larger than the
    /// archive. The limits bound it.
    ///
    /// - Throws: ``ArchiveError`` if the output would exceed the limits, and the errors of the
    ///   sink. The sink may have received events before that.
    public func render(
        into sink: inout some ValueFormSink, limits: ValueFormLimits = .standard
    ) throws {
        var renderer = ValueFormRenderer(of: self, limits: limits)
        try renderer.render(into: &sink)
    }

    /// Passes the value form of the archive to a sink that takes a limited number of values.
    ///
    /// - Throws: The same errors, and ``TooManyValues`` if there are more.
    package func render(
        into sink: inout some ValueFormSink, limits: ValueFormLimits = .standard, mostValues: Int
    ) throws {
        var renderer = ValueFormRenderer(of: self, limits: limits, mostValues: mostValues)
        try renderer.render(into: &sink)
    }
}

/// The walk over an archive's graph that shows it as values.
///
/// 1. The stack is an array, so the depth of the graph only costs memory, and is limited.
/// 2. What is read is paid for from a budget. So an archive that expands to too much ends in an
///    error.
/// 3. An object inside itself is shown as a reference. So the walk ends for cycles, too.
/// 4. If the output exceeds the size of an archive without sharing, the cost of the whole output is
///    counted first. So an archive that is too large is refused early.
/// 5. An object that is the same at each of its places is walked over once, if the sink can repeat it.
struct ValueFormRenderer {
    /// Archivers distinguish inline values in fields from references.
    ///
    /// Elements of collections are always objects, so they have no such distinction.
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
        /// A dictionary, some of whose keys begin with `$`.
        case dictionaryOfAnyKeys([Entry], className: Text, keys: Elements, values: Elements)
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
        /// The UID of the object that the collection is, which is closed at its end.
        let uid: UInt64?
        var next = 0
        /// The cost of everything before it.
        var start = ShowingCost()
        /// Where the sink has put it; nil if the sink does not say.
        var place: Int?
        /// How many levels it has so far, with its own.
        var height = 1
        /// The outermost frame to whose object something inside this frame refers.
        var outermost = Int.max
    }

    let archive: KeyedArchive
    let list: PropertyList
    private let limits: ValueFormLimits
    private let mostValues: Int
    private var budget: Int
    private var values = 0
    /// The cost at which the whole output is counted; nil after that.
    private var countingThreshold: Int?
    /// The objects that have been shown, and are the same wherever they are shown.
    private var shown: [UInt64: ShownObject] = [:]
    private var stack: [Frame] = []
    /// The frame of each object that is on the stack.
    private var openFrames: [Int?]
    /// The offset of the last object, for errors.
    private(set) var byteOffset = 0

    /// - Parameter mostValues: The most values that the sink takes.
    init(of archive: KeyedArchive, limits: ValueFormLimits, mostValues: Int = .max) {
        self.archive = archive
        list = archive.list
        self.limits = limits
        self.mostValues = mostValues
        budget = limits.size
        countingThreshold = Self.costWithoutSharing(archive)
        openFrames = Array(repeating: nil, count: archive.objects.count)
    }

    mutating func render(into sink: inout some ValueFormSink) throws {
        try show(try rootItem(), of: nil, into: &sink)
        while var frame = stack.popLast() {
            try countWhole()
            guard let (key, item) = nextItem(of: &frame) else {
                try close(frame, into: &sink)
                continue
            }
            stack.append(frame)
            if let key { try sink.key(key) }
            try show(item, of: nil, into: &sink)
        }
    }

    /// The value of the one key `root`, or the whole `$top`.
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

    /// The approximate cost of an archive that shares only the names of its fields.
    private static func costWithoutSharing(_ archive: KeyedArchive) -> Int {
        4 * archive.bytes.count + 4096
    }

    /// Takes `size` bytes and the cost of an event from the budget.
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
    /// Shows a scalar, or begins a collection and puts the rest of it on the stack.
    private mutating func show(
        _ item: Item, of uid: UInt64?, into sink: inout some ValueFormSink
    ) throws {
        switch item {
        case .value(let index, let position):
            try show(index, at: position, into: &sink)
        case .text(let text):
            try spend(text.byteCount)
            try noteValue()
            try sink.string(text)
        case .array(let elements):
            try open(.array(elements), of: uid)
            try sink.beginArray()
        case .dictionary(let entries):
            try open(.dictionary(entries), of: uid)
            try sink.beginDictionary()
        case .dictionaryOfAnyKeys(let entries, let className, let keys, let values):
            guard try sink.beginDictionaryOfAnyKeys() else {
                return try show(pairs(className, keys, values), of: uid, into: &sink)
            }
            try open(.dictionary(entries), of: uid)
        }
    }

    private mutating func open(_ content: Frame.Content, of uid: UInt64?) throws {
        try spend(0)
        try noteValue()
        guard stack.count < limits.depth else {
            throw ArchiveError.outputTooDeep(limit: limits.depth, at: byteOffset)
        }
        if let uid {
            openFrames[Int(uid)] = stack.count
        }
        stack.append(Frame(content: content, uid: uid))
    }

    private mutating func close(_ frame: Frame, into sink: inout some ValueFormSink) throws {
        if let uid = frame.uid { openFrames[Int(uid)] = nil }
        switch frame.content {
        case .array: try sink.endArray()
        case .dictionary: try sink.endDictionary()
        }
        note(frame, endingAt: sink.outputPlaces?.end)
    }

    /// Shows an object of the property list: a reference or an inline value.
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
            try noteValue()
            return try sink.null()
        }
        if let frame = openFrames[Int(uid)] {
            try spend(0)
            noteReference(toFrame: frame)
            return try sink.reference(to: uid)
        }
        if let known = shown[uid] {
            try spend(known)
            return try sink.repeatValue(at: known.place)
        }
        let (start, place) = (cost, sink.outputPlaces?.nextValue)
        defer {
            if stack.last?.uid == uid {
                stack[stack.count - 1].start = start
                stack[stack.count - 1].place = place
            }
        }
        let index = archive.object(uid)
        let value = list.value(at: index)
        byteOffset = list.byteOffset(of: index)
        switch value {
        case .boolean, .integer, .real, .singleReal:
            guard position == .field else { return try show(value, of: uid, into: &sink) }
            // A number that a field refers to is an object. Otherwise it would be inline.
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

    /// Shows a value itself.
    ///
    /// What it refers to is shown as elements.
    private mutating func show(
        _ value: PropertyList.Value, of uid: UInt64?, into sink: inout some ValueFormSink
    ) throws {
        try spend(0)
        if value.isPlain { try noteValue() }
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
            preconditionFailure("A UID was used as a value.")
        }
    }

    /// Shows an object, or a class record at the place of an object.
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
        case .set(let elements, _):
            try show(set(name, elements), of: uid, into: &sink)
        case .dictionary(let keys, let values):
            try show(try dictionary(name, keys, values), of: uid, into: &sink)
        case .object:
            try show(.dictionary(try entries(of: fields, className: name)), of: uid, into: &sink)
        }
    }
}

// MARK: Counting

/// The cost of what is shown, in bytes and in values.
private struct ShowingCost {
    var size = 0
    var values = 0
}

/// An object that has been shown.
private struct ShownObject {
    let cost: ShowingCost
    let height: Int
    /// Where it is in the output of the sink.
    let place: Range<Int>
}

/// There are more values than the sink takes.
package struct TooManyValues: Error {}

/// Accepts everything and ignores it.
private struct Nothing: ValueFormSink {
    func null() {}
    func boolean(_ value: Bool) {}
    func integer(_ value: Int128) {}
    func real(_ value: Double) {}
    func string(_ value: Text) {}
    func data(_ value: ArraySlice<UInt8>) {}
    func bytes(_ value: ArraySlice<UInt8>) {}
    func date(_ secondsSince2001: Double) {}
    func reference(to uid: UInt64) {}
    func beginArray() {}
    func endArray() {}
    func beginDictionary() {}
    func beginDictionaryOfAnyKeys() -> Bool { true }
    func key(_ key: Text) {}
    func endDictionary() {}
    var outputPlaces: (nextValue: Int, end: Int)? { (0, 0) }
    func repeatValue(at place: Range<Int>) {}
}

extension KeyedArchive {
    /// Checks how large the archive is with each shared object at each of its places.
    ///
    /// - Throws: ``ArchiveError`` if that is more than `size` bytes.
    func checkSizeWithoutSharing(upTo size: Int) throws {
        let limits = ValueFormLimits(size: size, depth: .max)
        var counter = ValueFormRenderer(of: self, limits: limits)
        try counter.count()
    }
}

extension ValueFormRenderer {
    private var cost: ShowingCost { ShowingCost(size: limits.size - budget, values: values) }

    /// Counts the cost of the whole archive, when that is worth it.
    ///
    /// A shared object is counted once, and its cost is added at each of its places.
    ///
    /// - Throws: The same error as showing everything, if it is too large.
    private mutating func countWhole() throws {
        guard let threshold = countingThreshold, limits.size - budget > threshold else { return }
        countingThreshold = nil
        var counter = ValueFormRenderer(of: archive, limits: limits, mostValues: mostValues)
        try counter.count()
    }

    /// Renders the value without output, and each shared object once.
    fileprivate mutating func count() throws {
        countingThreshold = nil
        var nothing = Nothing()
        try render(into: &nothing)
    }

    /// Takes the cost of an object that has been shown before from the budget.
    private mutating func spend(_ object: ShownObject) throws {
        guard stack.count + object.height <= limits.depth else {
            throw ArchiveError.outputTooDeep(limit: limits.depth, at: byteOffset)
        }
        // The size already includes one event.
        try spend(object.cost.size - 8)
        values += object.cost.values
        guard values <= mostValues else { throw TooManyValues() }
        noteHeight(object.height)
    }

    /// Notes the height of something in the innermost collection.
    private mutating func noteHeight(_ height: Int) {
        guard let last = stack.indices.last else { return }
        stack[last].height = max(stack[last].height, height + 1)
    }

    private mutating func noteValue() throws {
        values += 1
        guard values <= mostValues else { throw TooManyValues() }
    }

    /// Notes that open objects refer to one around them.
    ///
    /// What is shown of them then depends on their place.
    private mutating func noteReference(toFrame frame: Int) {
        // The root is open at every place.
        guard frame > 0, let last = stack.indices.last else { return }
        stack[last].outermost = min(stack[last].outermost, frame)
    }

    private mutating func note(_ frame: Frame, endingAt end: Int?) {
        if let uid = frame.uid, frame.outermost > stack.count, let start = frame.place, let end {
            let cost = ShowingCost(
                size: cost.size - frame.start.size, values: values - frame.start.values)
            shown[uid] = ShownObject(cost: cost, height: frame.height, place: start..<end)
        }
        noteHeight(frame.height)
        guard let last = stack.indices.last else { return }
        stack[last].outermost = min(stack[last].outermost, frame.outermost)
    }
}

extension PropertyList.Value {
    /// Whether it is shown as one value.
    fileprivate var isPlain: Bool {
        switch self {
        case .boolean, .integer, .real, .singleReal, .date, .data: true
        case .string, .array, .set, .orderedSet, .dictionary, .uid: false
        }
    }
}
