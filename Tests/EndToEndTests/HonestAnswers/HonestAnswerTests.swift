import Foundation
import TestSupport
import TestTiers
import Testing

/// What programs are told when something is in the way: the table of `guarantees.md`, cell by cell.
@Suite(.startsPrograms) struct HonestAnswerTests {
    /// The cells of the table, by the condition: what is read and what comes of a change, by the program.
    private static func table() throws -> [String: [String]] {
        let page = try String(
            contentsOfFile: Desktop.packageDirectory + "Documentation/guarantees.md",
            encoding: .utf8)
        let lines = page.split(separator: "\n").map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let programs = HonestProgram.allCases.flatMap { ["\($0.rawValue) reads", "sets"] }
        let head = try #require(lines.firstIndex { $0.dropFirst() == programs[...] })
        let rows = lines[(head + 2)...].prefix { $0.count == programs.count + 1 }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], Array($0.dropFirst())) })
    }

    @Test func `The table has each condition once`() throws {
        #expect(try Set(Self.table().keys) == Set(Condition.allCases.map(\.rawValue)))
    }

    @Test(arguments: Condition.possible, HonestProgram.allCases)
    func `A program is told what the table says, and never a default or a success that is not so`(
        condition: Condition, program: HonestProgram
    ) async throws {
        let row = try #require(try Self.table()[condition.rawValue])
        let index = try #require(HonestProgram.allCases.firstIndex(of: program))
        let stage = try await ConditionedDesktop(condition, of: program.key)
        let (read, words) = try program.read(condition.storedText, on: stage)
        #expect(read.rawValue == row[2 * index], "\(words)")
        guard row[2 * index + 1] != "waits" else {
            return #expect(try program.keptChange(after: condition, on: stage) == 6)
        }
        let (written, reply) = try program.write(on: stage)
        #expect(written.rawValue == row[2 * index + 1], "\(reply)")
        guard written == .kept else { return }
        #expect(try stage.value(after: condition) == 6, "\(reply)")
    }
}
