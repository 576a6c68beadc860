import TestSupport

/// Makes other inputs of those there are.
///
/// Where bytes are a property list, it is mostly its objects that are changed, and the table of their
/// offsets fits them again: a byte more or less anywhere else would only ever try the reader of that.
/// The same seed and the same inputs give the same output.
public struct Mutator {
    private var random: SeededGenerator

    /// Makes a mutator whose choices follow from the seed.
    public init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// Whether the next change should be one of ours; else whoever asks has one of their own.
    public mutating func isTurn() -> Bool {
        random.below(2) == 0
    }

    /// The input with up to four changes.
    public mutating func mutated(_ input: [UInt8]) -> [UInt8] {
        var output = input
        for _ in 0...random.below(4) {
            if random.below(4) > 0, var list = RawList(output) {
                mutate(&list)
                output = list.bytes
            } else {
                mutate(&output)
            }
        }
        return output
    }

    /// One of several inputs.
    public mutating func choose(of inputs: [[UInt8]]) -> [UInt8] {
        random.element(of: inputs)
    }
}

// MARK: Bytes

extension Mutator {
    private mutating func mutate(_ bytes: inout [UInt8]) {
        let position = random.below(bytes.count)
        guard !bytes.isEmpty else {
            bytes.append(random.byte())
            return
        }
        switch random.below(6) {
        case 0: bytes[position] ^= UInt8(1 << random.below(8))
        case 1: bytes[position] = random.byte()
        case 2: bytes.remove(at: position)
        case 3: bytes.insert(random.byte(), at: position)
        case 4: bytes.insert(contentsOf: random.element(of: Words.json).utf8, at: position)
        default:
            // A piece of the input, once more or no more.
            let end = min(bytes.count, position + 1 + random.below(16))
            let piece = Array(bytes[position..<end])
            if random.below(2) == 0 {
                bytes.removeSubrange(position..<end)
            } else {
                bytes.insert(contentsOf: piece, at: random.below(bytes.count))
            }
        }
    }
}

// MARK: Objects

extension Mutator {
    private mutating func mutate(_ list: inout RawList) {
        let position = random.below(list.objects.count)
        let other = random.below(list.objects.count)
        switch random.below(12) {
        case 0: list.objects[position] = RawObject(random.element(of: Words.scalars))
        case 1: list.objects[position] = RawObject(name: random.element(of: Words.names))
        case 2: list.objects[position] = list.objects[other]
        case 3: list.objects.swapAt(position, other)
        case 4: list.root = other
        case 5: list.offsetWidth = 1 + random.below(8)
        case 6: list.referenceWidth = 1 + random.below(8)
        case 7: list.objects.append(newObject(in: list))
        default: mutate(&list.objects[position], count: list.objects.count)
        }
    }

    private mutating func newObject(in list: RawList) -> RawObject {
        switch random.below(4) {
        case 0: return RawObject(random.element(of: Words.scalars))
        case 1: return RawObject(name: random.element(of: Words.names))
        case 2: return RawObject([0x80, UInt8(truncatingIfNeeded: random.below(8))])
        default:
            let count = 2 * random.below(4)
            return RawObject(
                type: random.element(of: RawObject.collections),
                (0..<count).map { _ in random.below(list.objects.count + 1) })
        }
    }

    private mutating func mutate(_ object: inout RawObject, count: Int) {
        guard object.type != nil else { return mutate(&object.content) }
        let position = random.below(object.references.count)
        let reference = random.below(count)
        switch random.below(4) {
        case 0:
            object.type = random.element(of: RawObject.collections)
        case 1 where !object.references.isEmpty:
            object.references.remove(at: position)
        case 2 where !object.references.isEmpty:
            object.references[position] = reference
        default:
            object.references.insert(reference, at: position)
        }
    }
}
