internal import KeyedArchive
internal import PropertyList

/// The types of properties, as a marker names them.
enum ExactType: String {
    case boolean = "b"
    case byte = "y"
    case int16 = "n"
    case uint16 = "q"
    case int32 = "i"
    case uint32 = "u"
    case int64 = "x"
    case uint64 = "t"
    case double = "d"
    case string = "s"
    case strings = "as"
    case array = "av"

    /// The words of a marker: an object that says the exact type of its value.
    static let classKey: Text = "$class"
    static let className = "GVariant"
    static let typeKey: Text = "type"
    static let valueKey: Text = "value"
}

/// Collects those values of an archive that may be a property's.
///
/// The first event of any other kind is refused, so that a large value of another type costs
/// nothing.
struct StoredForm: ValueFormSink {
    /// A value, whose type is not checked yet.
    indirect enum Node {
        case boolean(Bool)
        case integer(Int128)
        case real(Double)
        case string(String)
        case array([Node])
        case marker(ExactType, Node)
    }

    /// The archive has something that no property has.
    struct Other: Error {}

    /// An array or a marker that has begun and not ended yet.
    private struct Frame {
        let isArray: Bool
        /// The elements of an array.
        var nodes: [Node] = []
        /// The key of the next value in a marker.
        var key: Text?
        var fields: [Text: Node] = [:]
    }

    /// A marked array of marked elements: no property has more containers inside each other.
    private static let deepest = 3

    private var frames: [Frame] = []
    private var room = PropertyValue.mostElements + 8 * deepest
    /// The value, after the last event.
    private(set) var root: Node?

    mutating func boolean(_ value: Bool) throws { try put(.boolean(value)) }
    mutating func integer(_ value: Int128) throws { try put(.integer(value)) }
    mutating func real(_ value: Double) throws { try put(.real(value)) }

    mutating func string(_ value: Text) throws {
        // D-Bus cannot carry a NUL.
        guard let string = value.string, !string.utf8.contains(0) else { throw Other() }
        try put(.string(string))
    }

    mutating func null() throws { throw Other() }
    mutating func data(_ value: ArraySlice<UInt8>) throws { throw Other() }
    mutating func bytes(_ value: ArraySlice<UInt8>) throws { throw Other() }
    mutating func date(_ secondsSince2001: Double) throws { throw Other() }
    mutating func reference(to uid: UInt64) throws { throw Other() }

    mutating func beginArray() throws { try open(Frame(isArray: true)) }

    mutating func endArray() throws {
        guard let frame = frames.popLast(), frame.isArray else { throw Other() }
        try put(.array(frame.nodes))
    }

    mutating func beginDictionary() throws { try open(Frame(isArray: false)) }

    mutating func key(_ key: Text) throws {
        let keys = [ExactType.classKey, ExactType.typeKey, ExactType.valueKey]
        guard !frames.isEmpty, keys.contains(key) else { throw Other() }
        frames[frames.count - 1].key = key
    }

    mutating func endDictionary() throws {
        guard let frame = frames.popLast(), !frame.isArray,
            case .string(ExactType.className) = frame.fields[ExactType.classKey],
            case .string(let type) = frame.fields[ExactType.typeKey],
            let type = ExactType(rawValue: type), let value = frame.fields[ExactType.valueKey]
        else { throw Other() }
        try put(.marker(type, value))
    }

    private mutating func open(_ frame: Frame) throws {
        guard frames.count < Self.deepest else { throw Other() }
        frames.append(frame)
    }

    private mutating func put(_ node: Node) throws {
        room -= 1
        guard room >= 0 else { throw Other() }
        let innermost = frames.count - 1
        if innermost < 0 {
            root = node
        } else if frames[innermost].isArray {
            frames[innermost].nodes.append(node)
        } else {
            guard let key = frames[innermost].key.take() else { throw Other() }
            frames[innermost].fields[key] = node
        }
    }
}
