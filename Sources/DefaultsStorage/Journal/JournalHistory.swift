internal import DefaultsModel

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

    /// Looks through the directories in which a journal may stand.
    ///
    /// A segment of another database is set aside: it may be what is left of one that was
    /// replaced, and is not ours to delete. So is one whose header cannot be read, which counts as
    /// damage to this database's journal. What an earlier process left unfinished, or had taken
    /// over in a rewrite, is removed.
    init(
        of database: UniqueID, boot: UniqueID, in directories: [PrivateDirectory],
        report: @escaping (Notice) -> Void
    ) throws(StorageError) {
        self.database = database
        self.boot = boot
        self.report = report
        for directory in directories {
            do {
                try collect(in: directory)
            } catch {
                throw .journalUnreadable(directory.path, error)
            }
        }
        // Two journals, one beside the database and one in a runtime directory, come from two
        // processes, of which the later began where the other had come to.
        segments.sort {
            ($0.header.generation, $0.header.sequence) < ($1.header.generation, $1.header.sequence)
        }
        newest = segments.map(\.header.generation).max()
    }

    /// Reads all changes in order, each once, whether the store has them or not, and all tokens.
    mutating func replay(
        _ body: (ChangeSet) throws(StorageError) -> Void
    ) throws(StorageError) {
        // The generation of a new database is that of no change.
        var last = Generation.first
        for segment in segments {
            try read(segment) { (change) throws(StorageError) in
                if !change.proposal.changesNothing {
                    guard change.generation > last else { return }
                    last = change.generation
                }
                try body(change)
            }
        }
    }

    /// From where the counter goes on, and whether it has jumped there.
    ///
    /// Where the last journal is here, of this boot, whole, and reaches back to the store, it proves
    /// every number that was given. Otherwise numbers may have been given that nothing here tells
    /// of. None of them is above the ceiling, unless the store was put back: then numbers were given
    /// that nobody here can know, from ceilings that came later. So the counter goes on from the time,
    /// which all of them are below: it counts microseconds, and nobody makes a million changes a
    /// second for years. A number above the ceiling comes from a jump that could not be noted in the
    /// store, and is made again.
    ///
    /// - Parameter place: Where the last journal stood.
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

    /// The database that the newest segment in some directories belongs to; nil where there is none.
    static func database(in directories: [PrivateDirectory]) -> UniqueID? {
        let headers = directories.flatMap { directory in
            let names = (try? directory.names()) ?? []
            return names.filter { $0.hasSuffix(JournalSegment.suffix) }.compactMap { name in
                try? JournalReader(directory.file(name))?.header
            }
        }
        return headers.max { $0.generation < $1.generation }?.database
    }

    private mutating func collect(in directory: PrivateDirectory) throws(SystemError) {
        var found: [SealedSegment] = []
        for name in try directory.names().sorted() {
            let isUnfinished = name.hasSuffix(JournalSegment.unfinishedSuffix)
            guard
                isUnfinished || name.hasSuffix(JournalSegment.suffix)
                    || name.hasSuffix(JournalSegment.putOffSuffix)
            else { continue }
            if let aside = try directory.setStrangeAside(name, mayHaveNames: true) {
                // It may stand in the place of ours, with the last numbers that were given.
                if !isUnfinished { isDamaged = true }
                report(.strangeFile(directory.file(name), setAside: aside))
            } else if isUnfinished {
                try directory.remove(name)
            } else {
                if let segment = try examine(name, in: directory) { found.append(segment) }
            }
        }
        let firstNeeded = found.filter { !$0.isPutOff }.map(\.header.firstNeeded).max() ?? 0
        for segment in found {
            if segment.isPutOff || segment.header.sequence >= firstNeeded {
                segments.append(segment)
            } else {
                try segment.remove()
            }
        }
    }

    private mutating func examine(
        _ name: String, in directory: PrivateDirectory
    ) throws(SystemError) -> SealedSegment? {
        let path = directory.file(name)
        guard let reader = try JournalReader(path) else {
            // It may have been ours, with the last numbers that were given.
            isDamaged = true
            let aside = try directory.setAside(name, as: JournalSegment.asideSuffix)
            report(.damagedSegment(path, setAside: aside))
            return nil
        }
        guard reader.header.database == database else {
            let aside = try directory.setAside(name, as: JournalSegment.asideSuffix)
            report(.foreignSegment(path, setAside: aside))
            return nil
        }
        return SealedSegment(
            header: reader.header, directory: directory.path, name: name, size: reader.size)
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
            case .change(let change):
                newest = max(newest ?? change.generation, change.generation)
                try body(change)
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
