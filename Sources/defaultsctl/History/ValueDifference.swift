import KeyedArchive
import PropertyList
import ValuePaths

/// The parts in which two values differ that are dictionaries, objects or arrays.
enum ValueDifference {
    /// A part that only one value has, or that is different in both.
    struct Part {
        let path: ValuePath
        /// The part of the one value; nil if it has none there.
        let was: KeyedArchive?
        /// The part of the other value; nil if it has none there.
        let became: KeyedArchive?
    }

    /// The parts that differ; nil if only the whole values can be compared.
    ///
    /// The elements of arrays are compared one by one if both have as many, and otherwise the arrays as a
    /// whole.
    static func parts(of was: KeyedArchive, and became: KeyedArchive) -> [Part]? {
        guard let one = ValueOutline.Node(of: was), let other = ValueOutline.Node(of: became)
        else { return nil }
        var paths: [[ValuePath.Step]] = []
        collect(one, other, at: [], into: &paths)
        guard !paths.contains([]) else { return nil }
        let parts = paths.map { steps in
            let path = ValuePath(steps)
            return Part(
                path: path, was: try? was.value(at: path), became: try? became.value(at: path))
        }
        // A path leads to neither the class of an object nor the elements of a set.
        return parts.contains { $0.was == nil && $0.became == nil } ? nil : parts
    }

    private static func collect(
        _ one: ValueOutline.Node, _ other: ValueOutline.Node, at steps: [ValuePath.Step],
        into paths: inout [[ValuePath.Step]]
    ) {
        switch (one, other) {
        case (.dictionary(let before), .dictionary(let after))
        where before["$class"] == after["$class"]:
            for name in Set(before.keys).union(after.keys).sorted() {
                let inner = steps + [.name(Text(name))]
                guard let one = before[name], let other = after[name] else {
                    paths.append(inner)
                    continue
                }
                if one != other { collect(one, other, at: inner, into: &paths) }
            }
        case (.array(let before), .array(let after)) where before.count == after.count:
            for (index, (one, other)) in zip(before, after).enumerated() where one != other {
                collect(one, other, at: steps + [.index(index)], into: &paths)
            }
        default: if one != other { paths.append(steps) }
        }
    }
}

/// Makes the outline of a value: its dictionaries and arrays with the scalars in them.
struct ValueOutline: ValueFormSink {
    indirect enum Node: Equatable {
        case scalar(Scalar)
        case array([Node])
        case dictionary([String: Node])

        /// The outline of a value; nil if it is nested too deeply, or has a key that is not a text.
        init?(of archive: KeyedArchive) {
            var sink = DateFolding(into: ValueOutline())
            do {
                try archive.render(into: &sink)
                try sink.release()
            } catch {
                return nil
            }
            guard let root = sink.sink.root else { return nil }
            self = root
        }
    }

    enum Scalar: Equatable {
        case null
        case boolean(Bool)
        case integer(Int128)
        /// The bits, because not a number is not equal to itself.
        case real(UInt64)
        case string(Text)
        case data([UInt8])
        case bytes([UInt8])
        case date(UInt64)
        case reference(UInt64)
    }

    /// A value that is not compared in parts.
    private struct TooDeep: Error {}

    /// An array or a dictionary whose end has not come yet.
    private struct Open {
        /// The keys, in the order of the elements; nil for an array.
        var keys: [String]?
        var elements: [Node] = []

        var node: Node {
            guard let keys else { return .array(elements) }
            return .dictionary(Dictionary(zip(keys, elements)) { _, last in last })
        }
    }

    private static let deepest = 64

    private var open: [Open] = []
    private(set) var root: Node?

    private mutating func add(_ node: Node) {
        if open.isEmpty { root = node } else { open[open.count - 1].elements.append(node) }
    }

    private mutating func begin(keys: [String]?) throws {
        guard open.count < Self.deepest else { throw TooDeep() }
        open.append(Open(keys: keys))
    }

    private mutating func end() {
        if let ended = open.popLast() { add(ended.node) }
    }

    mutating func null() { add(.scalar(.null)) }
    mutating func boolean(_ value: Bool) { add(.scalar(.boolean(value))) }
    mutating func integer(_ value: Int128) { add(.scalar(.integer(value))) }
    mutating func real(_ value: Double) { add(.scalar(.real(value.bitPattern))) }
    mutating func string(_ value: Text) { add(.scalar(.string(value))) }
    mutating func data(_ value: ArraySlice<UInt8>) { add(.scalar(.data(Array(value)))) }
    mutating func bytes(_ value: ArraySlice<UInt8>) { add(.scalar(.bytes(Array(value)))) }
    mutating func date(_ seconds: Double) { add(.scalar(.date(seconds.bitPattern))) }
    mutating func reference(to uid: UInt64) { add(.scalar(.reference(uid))) }
    mutating func beginArray() throws { try begin(keys: nil) }
    mutating func endArray() { end() }
    mutating func beginDictionary() throws { try begin(keys: []) }
    mutating func endDictionary() { end() }

    mutating func key(_ key: Text) throws {
        guard let name = key.string else { throw TooDeep() }
        open[open.count - 1].keys?.append(name)
    }
}
