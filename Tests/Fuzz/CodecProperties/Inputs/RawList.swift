import PropertyList

/// An object of a property list as it is spelled, right or wrong.
struct RawObject {
    /// The whole of a scalar.
    var content: [UInt8]
    /// Of a collection the upper half of its marker, which says what it is.
    var type: UInt8?
    /// The numbers of the elements; of a dictionary its keys, and then its values.
    var references: [Int] = []

    init(_ content: [UInt8]) {
        self.content = content
    }

    init(type: UInt8, _ references: [Int]) {
        content = []
        self.type = type
        self.references = references
    }

    /// A string of ASCII.
    init(name: String) {
        let characters = Array(name.utf8)
        content = Self.head(of: 0x5, count: characters.count) + characters
    }

    /// The object with references of this many bytes.
    func bytes(referenceWidth: Int) -> [UInt8] {
        guard let type else { return content }
        let count = type == Self.dictionary ? references.count / 2 : references.count
        return Self.head(of: type, count: count)
            + references.flatMap { RawList.bigEndian(UInt64($0), width: referenceWidth) }
    }

    static let dictionary: UInt8 = 0xD
    static let collections: [UInt8] = [0xA, 0xB, 0xC, dictionary]

    static func head(of type: UInt8, count: Int) -> [UInt8] {
        count < 15
            ? [type << 4 | UInt8(count)]
            : [type << 4 | 0xF, 0x11] + RawList.bigEndian(UInt64(count), width: 2)
    }
}

/// A property list that is taken apart, to be put together otherwise.
struct RawList {
    var objects: [RawObject]
    var root: Int
    var offsetWidth = 2
    var referenceWidth = 2

    init(objects: [RawObject], root: Int) {
        self.objects = objects
        self.root = root
    }

    /// Takes apart what is a property list.
    init?(_ bytes: [UInt8]) {
        guard let list = try? PropertyList(bytes) else { return nil }
        // The bytes of a scalar end where any other object begins, or before.
        let starts = list.indices.map { list.byteOffset(of: $0) }
        let end = Int(RawList.number(bytes.suffix(8)))
        let ends = (starts + [end]).sorted()
        objects = list.indices.map { index in
            let value = list.value(at: index)
            let references = list.children(of: value).map(\.position)
            switch value {
            case .array: return RawObject(type: 0xA, references)
            case .orderedSet: return RawObject(type: 0xB, references)
            case .set: return RawObject(type: 0xC, references)
            case .dictionary: return RawObject(type: RawObject.dictionary, references)
            default:
                let start = list.byteOffset(of: index)
                return RawObject(Array(bytes[start..<(ends.first { $0 > start } ?? end)]))
            }
        }
        root = list.root.position
    }

    /// The bytes with a table and a trailer that fit the objects.
    var bytes: [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            bytes += object.bytes(referenceWidth: referenceWidth)
        }
        let table = bytes.count
        for offset in offsets { bytes += Self.bigEndian(UInt64(offset), width: offsetWidth) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetWidth), UInt8(referenceWidth)]
        for number in [objects.count, root, table] {
            bytes += Self.bigEndian(UInt64(number), width: 8)
        }
        return bytes
    }

    static func bigEndian(_ value: UInt64, width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: $0 < 8 ? value >> (8 * $0) : 0) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
