import KeyedArchive
import PropertyList
import TestSupport

extension Part {
    /// The comparison of archives: one is the same as itself in another order and other bytes, and
    /// those that are the same are shown as the same.
    ///
    /// Archives have the same canonical form if they are the same, and only then.
    static let sameness = Part("sameness") { bytes in
        guard let archive = try validated(bytes) else { return .refused }
        try require(archive.isSame(as: archive), "An archive is not the same as itself.")
        let parts = try ArchiveParts(of: bytes)
        let isCheap = try parts.isCheap

        var padded = bytes
        // Nobody reads this byte of the trailer; but equal bytes would not be compared at all.
        padded[padded.count - 32] ^= 0x55
        try checkSame(archive, padded, "with other padding", isSure: isCheap)

        let count = parts.objects.count
        let turned = count < 2 ? nil : [0] + (1..<UInt64(count)).reversed()
        for (uids, turns) in [(nil, true), (turned, false), (turned, true)] {
            let copy = try ListCopy(of: parts.list, uids: uids, turnsDictionaries: turns)
            guard copy.isExact else { break }
            try checkSame(
                archive, copy.bytes(of: parts), "in another order", isSure: isCheap)
        }
        try checkNeighbours(of: archive)
        return .accepted
    }

    private static func checkSame(
        _ archive: KeyedArchive, _ bytes: [UInt8], _ how: String, isSure: Bool
    ) throws {
        let other = try KeyedArchive(validating: bytes, limits: .unlimited)
        let isSame = archive.isSame(as: other)
        try require(isSame == other.isSame(as: archive), "Sameness \(how) depends on the side.")
        try require(isSame || !isSure, "An archive \(how) is not the same.")
        try checkForms(archive, other, isSame: isSame, isSure: isSure)
    }

    private static func checkForms(
        _ archive: KeyedArchive, _ other: KeyedArchive, isSame: Bool, isSure: Bool
    ) throws {
        guard let form = archive.canonicalForm, let otherForm = other.canonicalForm else {
            return try require(!isSure, "A cheap archive has no canonical form.")
        }
        try require(
            (form == otherForm) == isSame || !isSure,
            "The canonical forms of two archives are \(isSame ? "different" : "the same").")
    }

    /// Archives that differ in one byte: where they are said to be the same, they are shown alike.
    private static func checkNeighbours(of archive: KeyedArchive) throws {
        var random = SeededGenerator(bytes: archive.bytes)
        var shown: [UInt8]?
        let isCheap = try ArchiveParts(of: archive.bytes).isCheap
        for _ in 0..<8 {
            var bytes = archive.bytes
            let position = random.below(bytes.count)
            bytes[position] ^= UInt8(1 << random.below(8))
            guard let other = try? KeyedArchive(validating: bytes) else { continue }
            let isSame = archive.isSame(as: other)
            let isSure = try isCheap && ArchiveParts(of: bytes).isCheap
            try checkForms(archive, other, isSame: isSame, isSure: isSure)
            guard isSame else { continue }
            var events = EventCheck()
            guard (try? archive.render(into: &events, limits: .small)) != nil,
                !events.isOutputOnly
            else { return }
            let json = try shown ?? archive.json(limits: .small)
            shown = json
            try require(
                try other.json(limits: .small) == json,
                "Archives are the same that differ in byte \(position), which is shown.")
        }
    }
}

extension KeyedArchive {
    /// The whole canonical form; nil if it is not complete.
    fileprivate var canonicalForm: [UInt8]? {
        var form: [UInt8] = []
        return writeCanonicalForm { form += $0 } ? form : nil
    }
}

extension ArchiveParts {
    /// Whether all of it is compared in less than what a comparison may cost at most: whatever stands
    /// inline in several places is compared in each, and only a list that is made to be expensive has
    /// much of that.
    var isCheap: Bool {
        get throws {
            guard entries.count == 4 else { return false }
            var costs = Array(repeating: 0, count: list.objectCount)
            for index in try list.elementsFirst() {
                let value = list.value(at: index)
                costs[index.position] = list.children(of: value)
                    .reduce(2 + list.size(of: value)) { min($0 + costs[$1.position], 1 << 40) }
            }
            return costs[list.root.position] < list.bytes.count
        }
    }
}

extension PropertyList {
    /// How many code units, bytes or elements a value has.
    fileprivate func size(of value: Value) -> Int {
        switch value {
        case .string(let range): range.count
        case .data(let range): range.count
        default: children(of: value).count
        }
    }
}
