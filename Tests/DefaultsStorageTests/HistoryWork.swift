import DefaultsModel
import DefaultsTerms
import Foundation
import Synchronization

@testable import DefaultsStorage

/// A database with a history, whose flushes, times and authors a test decides.
final class HistoryWork {
    let scratch: Scratch
    private(set) var database: Database
    private(set) var writer: DurableWriter
    var rules = HistoryRules()
    /// The time of the next change, in seconds since 1970.
    var time: Int64 = 1_800_000_000
    private let lines = NoticeLines()

    private final class NoticeLines: Sendable {
        let all = Mutex<[String]>([])
    }

    init(_ scratch: Scratch? = nil) throws {
        let scratch = try scratch ?? Scratch()
        self.scratch = scratch
        database = try scratch.open()
        let lines = lines
        writer = try database.makeWriter { notice in
            lines.all.withLock { $0.append(notice.description) }
        }
    }

    /// What was said about the history.
    var notices: [String] { lines.all.withLock { $0 } }

    var path: String { "\(scratch.location.directory)/history.db" }

    /// Changes a key, as an action of its own.
    @discardableResult
    func set(
        _ key: String, _ value: [UInt8]?, of domain: String = "org.example.App",
        by author: ChangeAuthor = .init(program: "editor")
    ) throws -> Generation {
        let key = try Key(key)
        var proposal = ChangeProposal(
            domain: try Domain(name: domain, layer: .domain),
            set: value.map { [.init(key: key, archive: $0)] } ?? [],
            removed: value == nil ? [key] : [], origin: "")
        proposal.note = ChangeNote(author: author, time: time)
        return try database.commit(proposal).generation
    }

    func flush() async throws {
        guard let batch = database.beginFlush(history: rules) else { return }
        do {
            try await writer.write(batch)
            database.finishFlush(batch, .success(()))
        } catch {
            database.finishFlush(batch, .failure(error))
            throw error
        }
    }

    /// Does all work for quiet moments.
    func tidy() async throws {
        while try await writer.tidy() {}
    }

    func actions(_ domain: String? = nil, limit: Int = 100_000) async throws -> [ActionSummary] {
        var filter = ActionFilter()
        filter.domain = try domain.map { try Domain(name: $0, layer: .domain) }
        filter.limit = limit
        return try await writer.actions(filter).actions
    }

    /// What becomes of an action's keys if it is taken back.
    func standing(of action: ActionSummary) async throws -> [HistoryTerms.Standing] {
        try await writer.action(action.number)?.1.map(\.standing) ?? []
    }

    /// Ends the process in order, and begins another.
    func restart(changing files: () throws -> Void = {}) async throws {
        await writer.close()
        database.close()
        try files()
        database = try scratch.open()
        let lines = lines
        writer = try database.makeWriter { notice in
            lines.all.withLock { $0.append(notice.description) }
        }
    }
}
