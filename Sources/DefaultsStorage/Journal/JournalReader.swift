internal import DefaultsModel
internal import Glibc
internal import SystemCalls

/// Reads the records of a segment, and what can be read of a damaged one.
///
/// After a damaged record, the reader continues at the next whole one. A journal beside the
/// database may lose a page in its middle in a power cut. The records after it were acknowledged,
/// too, and each record is a complete change. An incomplete record at the end of the file is not
/// damage: it was being written when the process died, and was not acknowledged.
struct JournalReader: ~Copyable {
    /// What the reader found.
    enum Element {
        /// A change, for each of its domains.
        case change([ChangeSet])
        /// An incomplete record at the end of the file.
        case unfinished(offset: Int, length: Int)
        /// Bytes that are not a record, up to the next record or the end of the file.
        case damage(offset: Int, length: Int)
    }

    /// How much is read at once in the search for the next record.
    private static let searchWindow = 1 << 16

    let header: JournalHeader
    let size: Int
    private let file: File
    private var offset = JournalHeader.size

    /// Opens a segment; nil if the header is missing or damaged.
    init?(_ path: String) throws(SystemError) {
        let file = try File.regular(path, O_RDONLY | O_NOFOLLOW)
        let bytes = try file.read(JournalHeader.size, at: 0)
        guard let header = JournalHeader(decoding: bytes) else { return nil }
        size = try file.size()
        self.header = header
        self.file = file
    }

    /// The next record, or damage; nil at the end.
    mutating func next() throws(SystemError) -> Element? {
        guard offset < size else { return nil }
        let start = offset
        if let (changes, end) = try record(at: start) {
            offset = end
            return .change(changes)
        }
        if try isUnfinished(at: start) {
            offset = size
            return .unfinished(offset: start, length: size - start)
        }
        offset = try nextRecord(after: start) ?? size
        return .damage(offset: start, length: offset - start)
    }

    /// Whether a record begins here but ends after the end of the file.
    private func isUnfinished(at start: Int) throws(SystemError) -> Bool {
        let bytes = try file.read(JournalRecord.headSize, at: start)
        guard bytes.count == JournalRecord.headSize else {
            return JournalRecord.magic.starts(with: bytes.prefix(JournalRecord.magic.count))
        }
        guard let head = JournalRecord.decodeHead(bytes, salt: header.salt) else { return false }
        return head.payloadSize > size - start - JournalRecord.headSize
    }

    /// The whole record at an offset, and where it ends.
    private func record(at start: Int) throws(SystemError) -> ([ChangeSet], end: Int)? {
        guard let (head, payloadStart) = try head(at: start) else { return nil }
        let payload = try file.read(head.payloadSize, at: payloadStart)
        guard XXH64.hash(payload, seed: header.salt) == head.payloadChecksum,
            let changes = JournalRecord.decodePayload(payload)
        else { return nil }
        return (changes, payloadStart + head.payloadSize)
    }

    /// The head at an offset, if its payload is within the file.
    private func head(
        at start: Int
    ) throws(SystemError) -> (JournalRecord.Head, payloadStart: Int)? {
        let bytes = try file.read(JournalRecord.headSize, at: start)
        guard let head = JournalRecord.decodeHead(bytes, salt: header.salt) else { return nil }
        let payloadStart = start + JournalRecord.headSize
        return head.payloadSize <= size - payloadStart ? (head, payloadStart) : nil
    }

    /// Where the next whole record begins; nil if there is none.
    private func nextRecord(after start: Int) throws(SystemError) -> Int? {
        var windowStart = start + 1
        while let data = file.nextData(from: windowStart), data < size {
            windowStart = data
            // The windows overlap, so each head is complete in one of them.
            let window = try file.read(
                JournalReader.searchWindow + JournalRecord.headSize, at: windowStart)
            for index in window.indices.dropLast(JournalRecord.headSize)
            where window[index...].starts(with: JournalRecord.magic) {
                if try record(at: windowStart + index) != nil { return windowStart + index }
            }
            guard window.count > JournalReader.searchWindow else { return nil }
            windowStart += JournalReader.searchWindow
        }
        return nil
    }
}

/// The segments that a start finds, and what they prove.
struct JournalHistory {
    private let database: UniqueID
    private let boot: UniqueID
    private let report: (Notice) -> Void
    /// The segments that are needed, the oldest first.
    private(set) var segments: [SealedSegment] = []
    /// The newest generation that a segment or a record proves to have been given.
    private var newest: Generation?
    private var isDamaged = false

    /// Looks through the directories in which a journal may be.
    ///
    /// A segment of another database is set aside: it may belong to a database that was replaced,
    /// so it must not be deleted. A segment with an unreadable header is also set aside, and counts
    /// as damage to the journal of this database. Segments that an earlier process left unfinished,
    /// or has rewritten, are removed.
    ///
    /// - Parameters:
    ///   - directories: Those of this place.
    ///   - others: Those that this database has left. Only its own segments in them are touched.
    init(
        of database: UniqueID, boot: UniqueID, in directories: [PrivateDirectory],
        and others: [PrivateDirectory] = [], report: @escaping (Notice) -> Void
    ) throws(StorageError) {
        self.database = database
        self.boot = boot
        self.report = report
        for directory in directories + others {
            do {
                try collect(in: directory, isShared: others.contains { $0.path == directory.path })
            } catch {
                throw .journalUnreadable(directory.path, error)
            }
        }
        // Two journals, one beside the database and one in a runtime directory, come from two
        // processes. The later process continued with the numbers of the earlier one.
        segments.sort {
            ($0.header.generation, $0.header.sequence) < ($1.header.generation, $1.header.sequence)
        }
        newest = segments.map(\.header.generation).max()
    }

    /// Reads all changes in order, each once, whether the store has them or not, and all tokens.
    mutating func replay(
        _ body: (ChangeSet) throws(StorageError) -> Void
    ) throws(StorageError) {
        var last = Generation.first
        // A change of several domains may be in several records after a rewrite.
        var domainsOfLast: Set<Domain> = []
        for segment in segments {
            try read(segment) { (change) throws(StorageError) in
                if !change.proposal.changesNothing {
                    // The generation of a new database belongs to no change.
                    guard change.generation >= last, change.generation > .first else { return }
                    if change.generation > last { domainsOfLast = [] }
                    guard domainsOfLast.insert(change.domain).inserted else { return }
                    last = change.generation
                }
                try body(change)
            }
        }
    }

    /// Where the counter continues, and whether it has jumped.
    ///
    /// If the last journal is here, of this boot, complete, and reaches back to the store, it
    /// proves every number that was given. Otherwise there may be numbers that nothing here shows.
    /// They are not above the ceiling, unless the store was replaced by an older copy: then later
    /// ceilings allowed numbers that cannot be known here. So the counter continues from the time
    /// in microseconds. All numbers are below that, because nobody makes a million changes a second
    /// for years. A number above the ceiling comes from a jump that the store could not note, and
    /// the jump is repeated.
    ///
    /// - Parameter place: Where the last journal was.
    func generation(
        after store: StoreState, last place: JournalPlace?
    ) -> (generation: Generation, hasJumped: Bool) {
        let proven = max(newest ?? store.generation, store.generation)
        let base = segments.filter { segment in
            place == JournalPlace(boot: boot, path: segment.directory)
                && segment.header.boot == boot && !segment.isPutOff
        }.map(\.header.base).min()
        if !isDamaged, let base, base <= store.generation, proven <= store.ceiling {
            return (proven, false)
        }
        let ceiling = segments.map(\.header.ceiling).reduce(max(proven, store.ceiling), max)
        let landing = Generation.landing(above: ceiling)
        report(.jumped(from: proven, to: landing))
        return (landing, true)
    }

    /// The database to which the newest segment in some directories belongs; nil if there is none.
    static func database(in directories: [PrivateDirectory]) -> UniqueID? {
        let headers = directories.flatMap { directory in
            let names = (try? directory.names()) ?? []
            return names.filter { $0.hasSuffix(JournalSegment.suffix) }.compactMap { name in
                try? JournalReader(directory.file(name))?.header
            }
        }
        return headers.max { $0.generation < $1.generation }?.database
    }

    /// Whether a directory has a segment of a database, also one that a process with another database
    /// has set aside.
    static func has(_ database: UniqueID, in directory: PrivateDirectory) -> Bool {
        databases(in: directory).contains(database)
    }

    /// Whether a directory has a segment of another database, also one that was set aside.
    static func hasOthers(than database: UniqueID, in directory: PrivateDirectory) -> Bool {
        databases(in: directory).contains { $0 != database }
    }

    private static func databases(in directory: PrivateDirectory) -> Set<UniqueID> {
        let names = ((try? directory.names()) ?? []).filter { JournalSegment.isName($0) }
        return Set(
            names.compactMap { try? JournalReader(directory.file($0))?.header.database })
    }

    private mutating func collect(
        in directory: PrivateDirectory, isShared: Bool
    ) throws(SystemError) {
        let names = try directory.names().sorted()
        var found = isShared ? [] : try ownSegments(names, in: directory)
        let others = names.filter { JournalSegment.isName($0, setAside: isShared ? nil : true) }
        found += others.compactMap { ownSegment($0, in: directory) }
        let firstNeeded = found.filter { !$0.isPutOff }.map(\.header.firstNeeded).max() ?? 0
        for segment in found {
            if segment.isPutOff || segment.header.sequence >= firstNeeded {
                segments.append(segment)
            } else {
                try? segment.remove()
            }
        }
    }

    /// A file if it is a segment of this database: among those of others, and among those that were set
    /// aside.
    private func ownSegment(_ name: String, in directory: PrivateDirectory) -> SealedSegment? {
        guard let reader = try? JournalReader(directory.file(name)),
            reader.header.database == database
        else { return nil }
        return SealedSegment(
            header: reader.header, directory: directory.path, name: name, size: reader.size)
    }

    /// The segments in a directory where there are to be no others.
    private mutating func ownSegments(
        _ names: [String], in directory: PrivateDirectory
    ) throws(SystemError) -> [SealedSegment] {
        var found: [SealedSegment] = []
        for name in names {
            let isUnfinished = name.hasSuffix(JournalSegment.unfinishedSuffix)
            guard
                isUnfinished || name.hasSuffix(JournalSegment.suffix)
                    || name.hasSuffix(JournalSegment.putOffSuffix)
            else { continue }
            if let aside = try directory.setStrangeAside(name, mayHaveNames: true) {
                // It may have replaced our segment, which had the last numbers that were given.
                if !isUnfinished { isDamaged = true }
                report(.strangeFile(directory.file(name), setAside: aside))
            } else if isUnfinished {
                try? directory.remove(name)
            } else {
                if let segment = try examine(name, in: directory) { found.append(segment) }
            }
        }
        return found
    }

    private mutating func examine(
        _ name: String, in directory: PrivateDirectory
    ) throws(SystemError) -> SealedSegment? {
        let path = directory.file(name)
        guard let reader = try JournalReader(path) else {
            // It may have been our segment with the last numbers that were given.
            isDamaged = true
            let aside = try aside(name, in: directory)
            report(.damagedSegment(path, setAside: aside))
            return nil
        }
        guard reader.header.database == database else {
            let aside = try aside(name, in: directory)
            report(.foreignSegment(path, setAside: aside))
            return nil
        }
        return SealedSegment(
            header: reader.header, directory: directory.path, name: name, size: reader.size)
    }

    /// Renames a segment that is not read.
    ///
    /// - Returns: Its path, which stays the same in a directory that cannot be written.
    private func aside(
        _ name: String, in directory: PrivateDirectory
    ) throws(SystemError) -> String {
        do throws(SystemError) {
            return try directory.setAside(name, as: JournalSegment.asideSuffix)
        } catch {
            guard error.number == EROFS else { throw error }
            return directory.file(name)
        }
    }

    private mutating func read(
        _ segment: SealedSegment, _ body: (ChangeSet) throws(StorageError) -> Void
    ) throws(StorageError) {
        let opened: JournalReader?
        do {
            opened = try JournalReader(segment.path)
        } catch {
            throw .journalUnreadable(segment.path, error)
        }
        guard var reader = opened else { return }
        while let element = try next(of: &reader, in: segment) {
            switch element {
            case .change(let changes):
                for change in changes {
                    newest = max(newest ?? change.generation, change.generation)
                    try body(change)
                }
            case .unfinished(let offset, let length):
                report(.unfinishedRecord(segment.path, offset: offset, length: length))
            case .damage(let offset, let length):
                isDamaged = true
                report(.damage(segment.path, offset: offset, length: length))
            }
        }
    }

    private func next(
        of reader: inout JournalReader, in segment: SealedSegment
    ) throws(StorageError) -> JournalReader.Element? {
        do {
            return try reader.next()
        } catch {
            throw .journalUnreadable(segment.path, error)
        }
    }
}
