import Foundation
import SQLite
import TestSupport

@testable import ServiceHarness

/// The history of a session.
extension TestSession {
    /// Sets the time of command lines and of the service to that of the system, which the file of the history
    /// has.
    func useSystemTime() {
        now = Int(Date().timeIntervalSince1970)
        service.date.seconds = now
    }

    /// Changes what the history has of actions: when they were, and who has made them.
    func changeHistory(_ sql: String) async throws {
        // The service writes it with the next flush.
        try await tool("sync").requireOutput()
        let file = try Connection(path: "\(service.files.database)/history.db", flags: .readWrite)
        try file.execute(sql)
    }

    /// Makes actions the work of another program.
    func attribute(_ numbers: ClosedRange<Int>, to program: String) async throws {
        try await changeHistory(
            """
            INSERT INTO authors (program, application, machine, owner)
                VALUES ('\(program)', '', '', '') ON CONFLICT DO NOTHING;
            UPDATE actions SET author = (SELECT id FROM authors WHERE program = '\(program)')
                WHERE number BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound);
            """)
    }

    /// Moves actions into the past.
    func date(_ numbers: ClosedRange<Int>, hoursAgo hours: Int) async throws {
        try await changeHistory(
            """
            UPDATE actions SET began = began - \(hours * 3_600), ended = ended - \(hours * 3_600)
                WHERE number BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound)
            """)
    }

    /// The output of a command line that succeeds, without the times of actions.
    func shown(_ words: String...) async throws -> String {
        try await tool(words).requireOutput().withoutTimes
    }
}

extension String {
    /// The text with `TIME` in place of each time.
    var withoutTimes: String {
        replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}/, with: "TIME")
    }
}
