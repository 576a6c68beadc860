internal import DefaultsModel
internal import DefaultsTerms
internal import Glibc
internal import SystemCalls

/// How a process comes by its page: it takes up that of an earlier one, or makes one.
extension CounterPage {
    /// Takes up the page that a directory has, or makes one, and brings it up to date.
    ///
    /// A page that cannot be taken up is voided and replaced.
    ///
    /// - Parameters:
    ///   - current: The generation of the database. Where the record is not whole, it is above
    ///     every number that was given before, or is that of the present contents.
    ///   - durable: The generation of the store, before any change of the journal was written to
    ///     it.
    ///   - replayed: All changes above `durable`, those that later ones have replaced left out or
    ///     not; nil where there may be others: the numbers have jumped, older changes have come to
    ///     light, or the page takes up its work in the middle of a process.
    ///   - keeper: Who keeps a page of memory; nil for a file.
    /// - Throws: Where there is none to be had. One that was there is voided then, unless that is
    ///   what failed.
    static func open(
        in directory: PrivateDirectory, of database: UniqueID, at current: Generation,
        durable: Generation, replayed: [ChangeSet]?, keeper: PageKeeper? = nil
    ) throws(Failure) -> CounterPage {
        if let keeper,
            let page = try openMemory(of: database, at: current, by: keeper, besides: directory)
        {
            page.bringUpToDate(to: current, durable: durable, replayed: replayed)
            return page
        }
        if let kept = try? keep(in: directory, of: database, at: current) {
            kept.bringUpToDate(to: current, durable: durable, replayed: replayed)
            return kept
        }
        do {
            try voidPage(in: directory)
        } catch {
            throw .notVoided(error)
        }
        do {
            return try make(in: directory, of: database, at: current)
        } catch {
            throw .notMade(error)
        }
    }

    /// Takes up the page of memory that the process before had, or makes one; nil if it would not be
    /// kept.
    ///
    /// A file that is there is voided: an earlier process had no keeper.
    private static func openMemory(
        of database: UniqueID, at current: Generation, by keeper: PageKeeper,
        besides directory: PrivateDirectory
    ) throws(Failure) -> CounterPage? {
        do {
            try voidPage(in: directory)
        } catch {
            throw .notVoided(error)
        }
        if let file = keeper.takeInherited(), let page = try? CounterPage(in: nil, file) {
            if page.isPage(of: database, at: current) { return page }
            page.void()
        }
        let words = CounterPageLayout.page(of: database, at: current)
        guard let file = try? PageFile.inMemory(words), keeper.keep(file) else { return nil }
        return try? CounterPage(in: nil, file)
    }

    /// Why there is no page in a directory.
    enum Failure: Error {
        /// There is one that cannot be taken up, and clients that have it mapped believe it.
        case notVoided(SystemError)
        /// None can be made, and clients have to ask for every value.
        case notMade(SystemError)
    }

    /// Takes up the page of an earlier process; nil where it is none, or not this database's.
    private static func keep(
        in directory: PrivateDirectory, of database: UniqueID, at current: Generation
    ) throws(SystemError) -> CounterPage? {
        let file = try PageFile(directory.file(name))
        let status = try file.status()
        guard status.kind == .regular, status.size == CounterPageLayout.size else { return nil }
        try file.makePrivate()
        // Somebody may have made a hole in it.
        try file.allocate(CounterPageLayout.size)
        let page = try CounterPage(in: directory, file)
        return page.isPage(of: database, at: current) ? page : nil
    }

    private func isPage(of database: UniqueID, at current: Generation) -> Bool {
        mapping.load(CounterPageLayout.formatWord) == CounterPageLayout.format
            && mapping.load(CounterPageLayout.slotCountWord) == UInt64(CounterPageLayout.slots)
            && CounterPageLayout.databaseWords.map { mapping.load($0) }
                == CounterPageLayout.words(of: database)
            && mapping.load(CounterPageLayout.generationWord) <= current.rawValue
    }

    /// Makes a page on which every domain has changed now.
    ///
    /// It gets its name only when it is whole.
    private static func make(
        in directory: PrivateDirectory, of database: UniqueID, at generation: Generation
    ) throws(SystemError) -> CounterPage {
        let unfinished = name + JournalSegment.unfinishedSuffix
        do throws(SystemError) {
            let file = try PageFile(directory.file(unfinished), O_CREAT | O_TRUNC)
            try file.makePrivate()
            try file.allocate(CounterPageLayout.size)
            try file.write(CounterPageLayout.page(of: database, at: generation), at: 0)
            let page = try CounterPage(in: directory, file)
            try directory.rename(unfinished, to: name)
            return page
        } catch {
            try? directory.remove(unfinished)
            throw error
        }
    }

    private func bringUpToDate(
        to current: Generation, durable: Generation, replayed: [ChangeSet]?
    ) {
        let noted = mapping.load(CounterPageLayout.generationWord)
        if let replayed, noted >= durable.rawValue {
            for change in replayed {
                mapping.raise(
                    CounterPageLayout.slot(of: change.domain.name), to: change.generation.rawValue)
            }
        } else {
            for slot in CounterPageLayout.firstSlot..<CounterPageLayout.words {
                mapping.raise(slot, to: current.rawValue)
            }
        }
        mapping.raise(CounterPageLayout.generationWord, to: current.rawValue)
    }
}

/// The page of one database.
extension CounterPageLayout {
    /// The identity of a database as it stands in its two words.
    static func words(of database: UniqueID) -> [UInt64] {
        database.bytes.withUnsafeBytes { bytes in
            // The buffer is read in bounds: an identity has 16 bytes.
            [0, 8].map { bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self) }
        }
    }

    /// A whole page on which every domain has changed at a generation.
    static func page(of database: UniqueID, at generation: Generation) -> [UInt64] {
        let header = [format, UInt64(slots), generation.rawValue] + words(of: database)
        let reserved = [UInt64](repeating: 0, count: firstSlot - header.count)
        return header + reserved + [UInt64](repeating: generation.rawValue, count: slots)
    }
}
