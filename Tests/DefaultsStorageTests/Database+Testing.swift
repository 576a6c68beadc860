import DefaultsModel
import TestSupport
import Testing

@testable import DefaultsStorage

extension DateSource {
    /// A date that a test moves.
    init(_ date: HeldDate) { self.init { date.seconds } }
}

extension Database {
    /// Opens the database at a date that stands still, unless the test moves it.
    convenience init(
        at location: DatabaseLocation, boot: UniqueID = .ofThisBoot(),
        machine: Machine = .current, date: HeldDate = HeldDate(), damage: String? = nil,
        pageKeeper: PageKeeper? = nil, report: @escaping (Notice) -> Void
    ) throws(StorageError) {
        try self.init(
            at: location, boot: boot, machine: machine, date: DateSource(date), damage: damage,
            pageKeeper: pageKeeper, report: report)
    }

    /// Flushes all that is pending, with a writer of its own.
    func flush() async throws {
        guard needsFlush else { return }
        let writer = try makeWriter()
        try await flush(by: writer)
        await writer.close()
    }

    /// Flushes what is pending, which must be something.
    ///
    /// - Returns: Whether the writer has something left to tidy.
    @discardableResult
    func flush(by writer: DurableWriter) async throws -> Bool {
        let batch = try #require(beginFlush())
        do {
            let hasChores = try await writer.write(batch)
            finishFlush(batch, .success(()))
            return hasChores
        } catch {
            finishFlush(batch, .failure(error))
            throw error
        }
    }

    /// Rebuilds the store with its own writer.
    func repair() async throws {
        _ = try await makeWriter().repair(identification, because: "A test.")
    }

    @discardableResult
    func set(
        _ archives: KeyValuePairs<String, [UInt8]>, in domain: String = "org.example.App"
    ) throws -> ChangeSet {
        try commit(
            ChangeProposal(
                domain: Domain(domain, on: .localhost),
                set: archives.map { .init(key: try Key($0.key), archive: $0.value) },
                origin: ":1.1"))
    }

    @discardableResult
    func remove(_ keys: String..., in domain: String = "org.example.App") throws -> ChangeSet {
        try commit(
            ChangeProposal(
                domain: Domain(domain, on: .localhost), removed: keys.map { try Key($0) },
                origin: ":1.1"))
    }

    @discardableResult
    func clear(_ domain: String = "org.example.App") throws -> ChangeSet {
        try commit(ChangeProposal(clearing: Domain(domain, on: .localhost), origin: ":1.1"))
    }

    func archive(_ key: String, in domain: String = "org.example.App") throws -> [UInt8]? {
        try value(Domain(domain, on: .localhost), Key(key))?.archive
    }

    func keys(in domain: String = "org.example.App") throws -> [String] {
        try keys(of: Domain(domain, on: .localhost)).map(\.name)
    }
}
