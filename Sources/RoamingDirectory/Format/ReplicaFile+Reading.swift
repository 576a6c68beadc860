import DefaultsRoaming
import DefaultsTerms
import PropertyList

extension ReplicaFile {
    /// Reads a file that anybody may have written.
    ///
    /// - Throws: The first fault. A file with one is not used at all.
    package init(bytes: [UInt8]) throws(FileFault) {
        try Self.checkEnd(of: bytes)
        var reader = LineReader(bytes)
        while let line = reader.next() { try reader.read(line) }
        self = try reader.finish()
    }

    /// Checks the first line, and the hash in the last one.
    private static func checkEnd(of bytes: [UInt8]) throws(FileFault) {
        let newline = UInt8(ascii: "\n")
        guard let firstEnd = bytes.firstIndex(of: newline) else { throw .incomplete }
        let first = String(decoding: bytes[..<firstEnd], as: UTF8.self)
        guard first == FileText.firstLine else {
            throw first.hasPrefix(FileText.anyFirstLine) ? .laterVersion : .incomplete
        }
        let size = "end \n".utf8.count + 2 * 32
        guard bytes.count > size else { throw .incomplete }
        let start = bytes.count - size
        let hash = FileText.hexadecimal(Blake2b.hash(of: Array(bytes[..<start])))
        guard bytes[start...].elementsEqual("end \(hash)\n".utf8) else { throw .incomplete }
    }
}

/// The state of reading a file, line by line.
private struct LineReader {
    private var lines: ArraySlice<ArraySlice<UInt8>>
    private var number = 1
    private var known: [FileWord: [Substring]] = [:]
    private var joined: [ReplicaID: Int64] = [:]
    private var forgotten: Set<ReplicaID> = []
    private var entries: [ReplicaFile.Entry] = []
    private var entry: ReplicaFile.Entry?

    init(_ bytes: [UInt8]) {
        lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[1...]
    }

    private var fault: FileFault { .wrong(line: number) }

    mutating func next() -> [Substring]? {
        guard let line = lines.popFirst(), !line.isEmpty else { return nil }
        number += 1
        return Substring(decoding: line, as: UTF8.self)
            .split(separator: " ", omittingEmptySubsequences: false)
    }

    mutating func read(_ words: [Substring]) throws(FileFault) {
        guard let word = FileWord(rawValue: String(words[0])) else { throw fault }
        let rest = Array(words.dropFirst())
        switch word {
        case .key: try beginEntry(rest)
        case .covers: try readCover(rest)
        case .set, .removed: try readHead(rest, isRemoval: word == .removed)
        case .joined:
            let dot = try dot(rest)
            guard joined.updateValue(dot.counter, forKey: dot.replica) == nil,
                joined.count <= FileLimits.replicas
            else { throw fault }
        case .forgotten:
            guard rest.count == 1, let replica = ReplicaID(rest[0]),
                forgotten.insert(replica).inserted, forgotten.count <= FileLimits.replicas
            else { throw fault }
        case .replica, .sequence, .stamp, .content, .written, .name, .batch, .end:
            guard known.updateValue(rest, forKey: word) == nil else { throw fault }
        }
    }

    private mutating func beginEntry(_ words: [Substring]) throws(FileFault) {
        guard words.count == 2, DomainRule.allows(String(words[0])),
            let name = FileText.name(words[1]), KeyRule.allows(name),
            entries.count < FileLimits.keys
        else { throw fault }
        let key = RoamingKey(domain: String(words[0]), name: name)
        // In the order of the keys, no key can be there twice.
        guard entry.map({ $0.key < key }) ?? true else { throw fault }
        endEntry()
        entry = ReplicaFile.Entry(key)
    }

    private mutating func endEntry() {
        if let entry { entries.append(entry) }
        entry = nil
    }

    private mutating func readCover(_ words: [Substring]) throws(FileFault) {
        let dot = try dot(words)
        guard let counters = entry?.covers.counters, counters[dot.replica] == nil,
            counters.count < FileLimits.replicas
        else { throw fault }
        entry?.covers.add(dot)
    }

    private mutating func readHead(_ words: [Substring], isRemoval: Bool) throws(FileFault) {
        guard words.count == (isRemoval ? 3 : 4), let heads = entry?.heads,
            heads.count < FileLimits.replicas
        else { throw fault }
        let dot = try dot(Array(words.prefix(2)))
        guard dot.counter > 0, let time = FileText.time(words[2]),
            !heads.contains(where: { $0.dot.replica == dot.replica })
        else { throw fault }
        var archive: [UInt8]?
        if !isRemoval {
            guard let bytes = Base64.decode(String(words[3])), bytes.count <= FileLimits.archive
            else { throw fault }
            archive = bytes
        }
        entry?.heads.append(Head(dot, time: time, archive: archive))
    }

    private func dot(_ words: [Substring]) throws(FileFault) -> Dot {
        guard words.count == 2, let replica = ReplicaID(words[0]),
            let counter = FileText.number(words[1])
        else { throw fault }
        return Dot(replica, counter)
    }

    private func single(_ word: FileWord) throws(FileFault) -> Substring {
        guard let words = known[word], words.count == 1 else { throw fault }
        return words[0]
    }

    mutating func finish() throws(FileFault) -> ReplicaFile {
        endEntry()
        guard let replica = ReplicaID(try single(.replica)),
            let sequence = FileText.number(try single(.sequence)),
            let stamp = FileText.bytes(try single(.stamp), count: 16),
            let content = FileText.number(try single(.content)),
            let written = FileText.number(try single(.written)),
            let name = FileText.name(try single(.name)), name.utf8.count <= FileLimits.name,
            !name.utf8.contains(where: FileText.isControl)
        else { throw fault }
        // A replica vouches for others only after it has forgotten them.
        let areAllowed = entries.allSatisfy { entry in
            entry.heads.allSatisfy { head in
                head.dot.replica == replica || forgotten.contains(head.dot.replica)
            }
        }
        guard areAllowed, joined[replica] == nil, !forgotten.contains(replica) else { throw fault }
        return ReplicaFile(
            replica: replica, sequence: sequence, stamp: stamp, content: content, written: written,
            name: name, batch: try batch(), joined: joined, forgotten: forgotten, entries: entries)
    }

    private func batch() throws(FileFault) -> (number: Int64, nonce: [UInt8])? {
        guard let words = known[.batch] else { return nil }
        guard words.count == 2, let number = FileText.number(words[0]),
            let nonce = FileText.bytes(words[1], count: 16)
        else { throw fault }
        return (number, nonce)
    }
}
