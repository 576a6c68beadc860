import KeyedArchive
import ValuePaths
import PropertyList

/// A value as its value form shows it, to walk and to compare.
indirect enum KeyPathModel: Equatable {
    case null
    case boolean(Bool)
    case integer(Int128)
    case real(UInt64)
    case string(Text)
    case data([UInt8])
    case bytes([UInt8])
    case date(UInt64)
    case reference
    case array([KeyPathModel])
    case dictionary([Text: KeyPathModel])

    init(of archive: KeyedArchive) throws {
        var sink = KeyPathModelSink()
        try archive.render(into: &sink)
        self = sink.values[0]
    }

    /// What is under `$top`, if that is shown, or the value.
    var root: KeyPathModel {
        if case .dictionary(let entries) = self, let top = entries["$top"] { top } else { self }
    }

    var hasReference: Bool {
        switch self {
        case .reference: true
        case .array(let elements): elements.contains(where: \.hasReference)
        case .dictionary(let entries): entries.values.contains(where: \.hasReference)
        default: false
        }
    }

    /// The value as it is shown by itself: a number that is an object is a number, bytes are data.
    var byItself: KeyPathModel {
        switch self {
        case .bytes(let bytes): .data(bytes)
        case .dictionary(let entries): isNumberObject ? entries["$value"] ?? .null : self
        default: self
        }
    }

    private var isNumberObject: Bool {
        guard case .dictionary(let entries) = self else { return false }
        return entries["$class"] == .string("NSNumber") && entries["$value"] != nil
    }

    /// The parts that paths lead to.
    var parts: [(step: ValuePath.Step, value: KeyPathModel)] {
        switch self {
        case .array(let elements):
            return elements.enumerated().map { (.index($0.offset), $0.element) }
        case .dictionary(let entries):
            guard entries["$classdef"] == nil, !isNumberObject else { return [] }
            return entries.filter { $0.key != "$class" }.sorted { $0.key < $1.key }
                .map { (.name($0.key), $0.value) }
        default:
            return []
        }
    }

    /// All parts at all depths, but for the empty path.
    func paths() -> [(path: [ValuePath.Step], value: KeyPathModel)] {
        var found: [(path: [ValuePath.Step], value: KeyPathModel)] = []
        var stack: [(path: [ValuePath.Step], value: KeyPathModel)] = [([], root)]
        while let (path, value) = stack.popLast() {
            if !path.isEmpty { found.append((path, value)) }
            stack += value.parts.reversed().map { (path + [$0.step], $0.value) }
        }
        return found
    }

    subscript(path: some Sequence<ValuePath.Step>) -> KeyPathModel? {
        var value = root
        for step in path {
            switch (value, step) {
            case (.array(let elements), .index(let index)) where elements.indices.contains(index):
                value = elements[index]
            case (.dictionary(let entries), .name(let name)):
                guard let entry = entries[name] else { return nil }
                value = entry
            default:
                return nil
            }
        }
        return value
    }
}

private struct KeyPathModelSink: ValueFormSink {
    var values: [KeyPathModel] = []
    private var keys: [Text] = []
    private var starts: [(values: Int, keys: Int)] = []

    mutating func null() { values.append(.null) }
    mutating func boolean(_ value: Bool) { values.append(.boolean(value)) }
    mutating func integer(_ value: Int128) { values.append(.integer(value)) }
    mutating func real(_ value: Double) { values.append(.real(value.bitPattern)) }
    mutating func string(_ value: Text) { values.append(.string(value)) }
    mutating func data(_ value: ArraySlice<UInt8>) { values.append(.data(Array(value))) }
    mutating func bytes(_ value: ArraySlice<UInt8>) { values.append(.bytes(Array(value))) }
    mutating func date(_ seconds: Double) { values.append(.date(seconds.bitPattern)) }
    mutating func reference(to uid: UInt64) { values.append(.reference) }
    mutating func beginArray() { starts.append((values.count, keys.count)) }
    mutating func beginDictionary() { starts.append((values.count, keys.count)) }
    mutating func key(_ key: Text) { keys.append(key) }

    mutating func endArray() {
        let start = starts.removeLast()
        let elements = Array(values[start.values...])
        values.removeSubrange(start.values...)
        values.append(.array(elements))
    }

    mutating func endDictionary() {
        let start = starts.removeLast()
        let entries = zip(keys[start.keys...], values[start.values...])
        let dictionary = Dictionary(uniqueKeysWithValues: entries)
        keys.removeSubrange(start.keys...)
        values.removeSubrange(start.values...)
        values.append(.dictionary(dictionary))
    }
}
