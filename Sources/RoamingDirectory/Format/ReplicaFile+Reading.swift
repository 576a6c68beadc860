import DefaultsRoaming
import DefaultsTerms
import PropertyList

extension ReplicaFile {
    /// Reads a file that anybody may have written.
    ///
    /// - Throws: The first fault. A file with one is not used at all.
    package init(bytes: [UInt8]) throws(FileFault) {
        var reader = LineReader(try Self.content(of: bytes))
        while let line = try reader.next() { try reader.read(line) }
        self = try reader.finish()
    }

    /// Checks the hash in the last line, and the first one.
    ///
    /// All versions of the form have such a last line. So a first line that is damaged is never taken
    /// for that of a later version, whose file nobody overwrites.
    ///
    /// - Returns: The lines between them.
    private static func content(of bytes: [UInt8]) throws(FileFault) -> ArraySlice<UInt8> {
        let size = "end \n".utf8.count + 2 * 32
        let start = bytes.count - size
        guard start >= 0, bytes.starts(with: FileText.anyFirstLine.utf8) else { throw .incomplete }
        let hash = FileText.hexadecimal(Blake2b.hash(of: bytes[..<start]))
        guard bytes[start...].elementsEqual("end \(hash)\n".utf8) else { throw .incomplete }
        let first = "\(FileText.firstLine)\n".utf8
        guard bytes[..<start].starts(with: first) else { throw .laterVersion }
        return bytes[first.count..<start]
    }
}

/// The state of reading a file, line by line.
///
/// Only one line is ever divided into words: a file of nothing but line ends would fill the memory with
/// its lines.
private struct LineReader {
    private var rest: ArraySlice<UInt8>
    private var number = 1
    private var known: [FileWord: [Substring]] = [:]
    private var joined: [ReplicaID: Int64] = [:]
    private var forgotten: Set<ReplicaID> = []
    private var entries: [ReplicaFile.Entry] = []
    private var entry: ReplicaFile.Entry?
    /// Whose versions and covers the entry has.
    private var inEntry: (heads: Set<ReplicaID>, covers: Set<ReplicaID>) = ([], [])
    /// The replicas that were named, each of which is kept once.
    private var replicas: [Substring: ReplicaID] = [:]

    init(_ lines: ArraySlice<UInt8>) {
        rest = lines
    }

    private var fault: FileFault { .wrong(line: number) }

    /// The words of the next line.
    mutating func next() throws(FileFault) -> [Substring]? {
        guard !rest.isEmpty else { return nil }
        number += 1
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")),
            end - rest.startIndex <= FileLimits.line
        else { throw fault }
        let line = rest[..<end]
        rest = rest[(end + 1)...]
        // With a word more than any line has.
        return Substring(decoding: line, as: UTF8.self)
            .split(separator: " ", maxSplits: 5, omittingEmptySubsequences: false)
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
            guard rest.count == 1, let replica = replica(rest[0]),
                forgotten.insert(replica).inserted, forgotten.count <= FileLimits.replicas
            else { throw fault }
        case .end: throw fault
        case .replica, .sequence, .stamp, .content, .written, .name, .batch:
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
        inEntry = ([], [])
    }

    private mutating func readCover(_ words: [Substring]) throws(FileFault) {
        let dot = try dot(words)
        guard entry != nil, inEntry.covers.insert(dot.replica).inserted,
            inEntry.covers.count <= FileLimits.replicas
        else { throw fault }
        entry?.covers.add(dot)
    }

    private mutating func readHead(_ words: [Substring], isRemoval: Bool) throws(FileFault) {
        guard entry != nil, words.count == (isRemoval ? 3 : 4) else { throw fault }
        let dot = try dot(Array(words.prefix(2)))
        guard dot.counter > 0, let time = FileText.time(words[2]),
            inEntry.heads.insert(dot.replica).inserted,
            inEntry.heads.count <= FileLimits.replicas
        else { throw fault }
        var archive: [UInt8]?
        if !isRemoval {
            guard let bytes = Base64.decode(String(words[3])), bytes.count <= FileLimits.archive
            else { throw fault }
            archive = bytes
        }
        entry?.heads.append(Head(dot, time: time, archive: archive))
    }

    private mutating func replica(_ word: Substring) -> ReplicaID? {
        if let replica = replicas[word] { return replica }
        guard replicas.count < FileLimits.names, let replica = ReplicaID(word) else { return nil }
        // Of its own, as the word would keep its whole line.
        replicas[Substring(String(word))] = replica
        return replica
    }

    private mutating func dot(_ words: [Substring]) throws(FileFault) -> Dot {
        guard words.count == 2, let replica = replica(words[0]),
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
