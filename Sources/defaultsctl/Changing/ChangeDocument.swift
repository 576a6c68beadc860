import ArgumentParser
import KeyedArchive

/// Edits that are written down one a line: as JSON objects, or as the commands that make them.
///
/// ```
/// {"domain": "org.example.Game", "key": "PlaySound", "value": true}
/// {"domain": "org.example.Game", "key": "Volume", "remove": true, "ifGeneration": 42}
/// defaultsctl write org.example.Game Level -int 3
/// delete org.example.Game LastOpponent
/// ```
struct ChangeDocument {
    /// The edits, a list for each domain, in the order in which the domains are first named.
    private(set) var domains: [DomainEdits] = []
    private let name: String

    /// Reads a document.
    ///
    /// - Parameter name: Of its file, for errors.
    /// - Throws: `ToolError` with the line of what is wrong; then nothing of it is to be done.
    init(_ text: String, name: String) throws {
        self.name = name
        var (rest, line) = (Substring(text), 1)
        while let first = rest.first {
            if first.isWhitespace {
                line += first.isNewline ? 1 : 0
                rest.removeFirst()
                continue
            }
            let before = rest
            do {
                try first == "{" ? takeObject(&rest) : takeCommand(&rest)
            } catch {
                throw ToolError.input("\(name), line \(line)", Self.reason(error))
            }
            line += before[..<rest.startIndex].count { $0.isNewline }
        }
    }

    private mutating func takeObject(_ rest: inout Substring) throws {
        let end = rest.firstIndex(where: \.isNewline) ?? rest.endIndex
        let object = try ChangeObject(json: String(rest[..<end]))
        rest = rest[end...]
        add(object.edit, of: object.key, in: object.domain, ifStillAt: object.generation)
    }

    private mutating func takeCommand(_ rest: inout Substring) throws {
        var words = try ShellWords.popCommand(of: &rest)
        if let program = words.first, Self.programs.contains(program) { words.removeFirst() }
        guard !words.isEmpty else { return }
        let command = try Defaultsctl.command(words)
        guard let command = command as? any EditingCommand else {
            throw ShellWords.Failure(
                message: "'\(words[0].inBrief)' is no change: there are write and delete")
        }
        try command.addEdits(to: &self)
    }

    /// Adds an edit to those of its domain.
    mutating func add(
        _ edit: Edit, of key: String, in domain: String, ifStillAt generation: UInt64? = nil
    ) {
        let place = domains.firstIndex { $0.domain == domain } ?? domains.endIndex
        if place == domains.endIndex { domains.append(DomainEdits(of: domain)) }
        domains[place].add(edit, of: key, ifStillAt: generation)
    }

    /// What may stand before a verb.
    private static let programs: Set = ["defaultsctl", "defaults"]

    private static func reason(_ error: any Error) -> String {
        if let failure = error as? ShellWords.Failure { return "\(failure.message)." }
        if let failure = error as? ToolError { return failure.message }
        let message = Defaultsctl.message(for: error)
        return message.isEmpty ? "\(error)" : message
    }
}

/// A verb that edits keys, also as a line of a document.
protocol EditingCommand {
    func addEdits(to document: inout ChangeDocument) throws
}
