package import PropertyList

/// A property list as a value, for archives that no archiver writes.
package indirect enum Tree: Sendable, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByFloatLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    case boolean(Bool)
    case integer(Int128)
    case real(Double)
    case single(Float)
    case date(Double)
    case data([UInt8])
    case text(Text)
    case uid(UInt64)
    case array([Tree])
    case set([Tree])
    case orderedSet([Tree])
    case dictionary([(Text, Tree)])

    package init(integerLiteral value: Int) { self = .integer(Int128(value)) }
    package init(stringLiteral value: String) { self = .text(Text(value)) }
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
    package init(floatLiteral value: Double) { self = .real(value) }
    package init(arrayLiteral elements: Tree...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (Text, Tree)...) { self = .dictionary(elements) }

    /// The archive with these objects after `$null`, and the first of them as root.
    package static func archive(
        _ objects: Tree..., top: Tree = ["root": .uid(1)], archiver: Tree = "NSKeyedArchiver"
    ) -> [UInt8] {
        Tree(archive: objects, top: top, archiver: archiver).bytes()
    }

    package init(
        archive objects: [Tree], top: Tree = ["root": .uid(1)], archiver: Tree = "NSKeyedArchiver"
    ) {
        self = [
            "$version": 100_000, "$archiver": archiver, "$top": top,
            "$objects": .array(["$null"] + objects),
        ]
    }

    package static func record(_ name: Text, _ chain: Text...) -> Tree {
        let classes = [name] + chain + ["NSObject"]
        return ["$classname": .text(name), "$classes": .array(classes.map(Tree.text))]
    }

    /// The binary property list.
    ///
    /// Equal objects are not shared. UIDs have the given width, offsets and references four bytes.
    package func bytes(uidWidth: Int = 1) -> [UInt8] {
        var encoder = Encoder(uidWidth: uidWidth)
        let root = encoder.add(self)
        return encoder.finish(root: root)
    }

    private struct Encoder {
        let uidWidth: Int
        var objects: [[UInt8]] = []

        mutating func add(_ tree: Tree) -> Int {
            let bytes = encode(tree)
            objects.append(bytes)
            return objects.count - 1
        }

        private mutating func encode(_ tree: Tree) -> [UInt8] {
            switch tree {
            case .boolean(let value): return [value ? 0x09 : 0x08]
            case .integer(let value): return [0x14] + Self.bigEndian(value, width: 16)
            case .real(let value): return [0x23] + Self.bigEndian(value.bitPattern, width: 8)
            case .single(let value): return [0x22] + Self.bigEndian(value.bitPattern, width: 4)
            case .date(let value): return [0x33] + Self.bigEndian(value.bitPattern, width: 8)
            case .data(let value): return Self.marker(0x40, value.count) + value
            case .text(let value):
                let units = value.codeUnits
                let isASCII = units.allSatisfy { $0 < 0x80 }
                return Self.marker(isASCII ? 0x50 : 0x60, units.count)
                    + units.flatMap { Self.bigEndian($0, width: isASCII ? 1 : 2) }
            case .uid(let value):
                return [0x80 | UInt8(uidWidth - 1)] + Self.bigEndian(value, width: uidWidth)
            case .array(let elements): return collection(0xA0, elements)
            case .orderedSet(let elements): return collection(0xB0, elements)
            case .set(let elements): return collection(0xC0, elements)
            case .dictionary(let entries):
                let references =
                    entries.map { add(.text($0.0)) } + entries.map { add($0.1) }
                return Self.marker(0xD0, entries.count) + Self.encode(references)
            }
        }

        private mutating func collection(_ type: UInt8, _ elements: [Tree]) -> [UInt8] {
            let references = elements.map { add($0) }
            return Self.marker(type, elements.count) + Self.encode(references)
        }

        func finish(root: Int) -> [UInt8] {
            var bytes = Array("bplist00".utf8)
            var offsets: [Int] = []
            for object in objects {
                offsets.append(bytes.count)
                bytes += object
            }
            let table = bytes.count
            bytes += Self.encode(offsets) + [0, 0, 0, 0, 0, 0, 4, 4]
            for number in [objects.count, root, table] { bytes += Self.bigEndian(number, width: 8) }
            return bytes
        }

        static func encode(_ numbers: [Int]) -> [UInt8] {
            numbers.flatMap { bigEndian($0, width: 4) }
        }

        static func marker(_ type: UInt8, _ count: Int) -> [UInt8] {
            [type | 0x0F, 0x12] + bigEndian(count, width: 4)
        }

        static func bigEndian(_ value: some FixedWidthInteger, width: Int) -> [UInt8] {
            (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
    }
}

extension [UInt8] {
    /// The bytes as a string, to compare texts.
    package var text: String { String(decoding: self, as: UTF8.self) }
}
