package import DefaultsFiles
package import DefaultsModel
package import Logging

/// What is known about the layers that are made from files, besides what is in the database.
package final class FileLayers {
    /// The files of one layer of a domain when they were last read.
    package struct Known {
        /// The weakest file first, each with the digest of its contents, which may be invalid.
        package var files: [(path: FilePath, digest: UInt64)]
        var locks: LockTable
        /// What is wrong with some of the files.
        package var problems: [FilePath: LayerProblem] = [:]

        /// Whether the files are still the same.
        func isMade(of found: [FoundFile]) -> Bool {
            files.elementsEqual(found) { $0.path == $1.path && $0.digest == $1.digest }
        }
    }

    let places: LayerPlaces
    /// The log level for invalid files.
    let problemLevel: Logger.Level

    /// By domain and layer.
    private var known: [Domain: Known] = [:]
    /// What is wrong with the directories themselves.
    package private(set) var problems: Set<LayerProblem> = []
    /// The last record that was read, so that refusing many writes to one domain reads it only
    /// once.
    private var lastRecord: (domain: Domain, record: FileRecord)?
    /// The repair of the store after which the files were last compared with it; nil before the
    /// first comparison.
    private(set) var repair: Int64?
    /// Whether the log has reported that the database does not accept what the files contain.
    private var isRefused = false

    package init(in places: LayerPlaces, problemLevel: Logger.Level) {
        self.places = places
        self.problemLevel = problemLevel
    }

    // MARK: What is known

    package subscript(domain: Domain) -> Known? { known[domain] }

    var isEmpty: Bool { known.isEmpty }

    package var domains: Set<Domain> { Set(known.keys) }

    /// All files that are known.
    var paths: [String] { known.values.flatMap { $0.files.map(\.path.description) } }

    /// Whether the system lacked the resources to read some of the files.
    var lacksResources: Bool {
        problems.contains { $0.code == .noMeans }
            || known.values.contains { $0.problems.values.contains { $0.code == .noMeans } }
    }

    /// Whether a layer may have keys.
    ///
    /// A layer that is made from files has none if it has no files.
    package func mayHaveKeys(_ domain: Domain) -> Bool {
        domain.layer.isWritable || known[domain] != nil
    }

    /// Notes the files of a layer; nil if it has none.
    func note(_ files: Known?, of domain: Domain) {
        lastRecord = nil
        known[domain] = files
    }

    /// Forgets everything, because the store was repaired, or nothing was read yet.
    ///
    /// - Parameter repair: The repair that the files are compared with from now on.
    func beginAgain(after repair: Int64, _ known: [Domain: Known]) {
        (self.known, lastRecord, self.repair) = (known, nil, repair)
    }

    // MARK: Records

    /// The record that was remembered, if it is of this domain.
    func rememberedRecord(of domain: Domain) -> FileRecord? {
        lastRecord.flatMap { $0.domain == domain ? $0.record : nil }
    }

    func remember(_ record: FileRecord, of domain: Domain) { lastRecord = (domain, record) }

    // MARK: Problems

    /// Notes what is wrong with the directories.
    ///
    /// - Returns: What was not known before, which is to be logged.
    func note(_ found: [LayerProblem]) -> [LayerProblem] {
        defer { problems = Set(found) }
        return found.filter { !problems.contains($0) }
    }

    /// Notes whether the database accepts what the files contain.
    ///
    /// - Returns: Whether it is the first refusal in a row, which is to be logged.
    @discardableResult
    func note(isRefused: Bool) -> Bool {
        defer { self.isRefused = isRefused }
        return isRefused && !self.isRefused
    }
}
