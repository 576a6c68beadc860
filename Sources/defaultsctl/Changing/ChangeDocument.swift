import DefaultsClient
import ArgumentParser
import DBus
import DefaultsProtocol
import KeyedArchive
import PropertyList
import ValuePaths

/// Edits from a document with one edit on each line: as JSON objects, or as the commands that make
/// them.
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
    private var places: [String: Int] = [:]
    private let name: String
    /// The number of the line that is being read.
    private var line = 1

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - text: In UTF-8.
    ///   - name: The file's name, for errors.
    /// - Throws: `ToolError` with the line of the error. Then none of the edits may be made.
    init(_ text: [UInt8], name: String) throws {
        self.name = name
        var rest = text.dropFirst(text.starts(with: Self.byteOrderMark) ? 3 : 0)
        while let first = rest.first {
            if Self.isSpace(first) {
                line += first == Self.newline ? 1 : 0
                rest.removeFirst()
                continue
            }
            let before = rest
            do {
                try first == UInt8(ascii: "{") ? takeObject(&rest) : takeCommand(&rest)
            } catch {
                throw Self.failure(name, line, error)
            }
            line += before[..<rest.startIndex].count { $0 == Self.newline }
        }
    }

    /// The error of a domain, with the line that first names the domain, or of a key, with its
    /// line.
    func failure(of edits: DomainEdits, _ error: any Error) -> ToolError {
        let failed = error as? DomainEdits.KeyFailure
        let line = failed.flatMap { edits.lines[$0.key] } ?? edits.line
        return Self.failure(name, line, failed?.reason ?? error)
    }

    /// The error of the whole change.
    ///
    /// Its sentence says which domain is the reason, if one is.
    func failure(_ error: any Error) -> ToolError {
        let sentence = (error as? DomainEdits.KeyFailure)?.domain ?? "\(error)"
        guard let edits = domains.first(where: { sentence.contains($0.domain) }) ?? domains.first
        else { return ToolError(error) }
        return failure(of: edits, error)
    }

    private static func failure(_ name: String, _ line: Int, _ error: any Error) -> ToolError {
        .input("\(name), line \(line)", reason(error))
    }

    private mutating func takeObject(_ rest: inout ArraySlice<UInt8>) throws {
        let end = rest.firstIndex(of: Self.newline) ?? rest.endIndex
        let object = try ChangeObject(json: Array(rest[..<end]))
        rest = rest[end...]
        try add(object.edit, of: object.key, in: object.domain, ifStillAt: object.generation)
    }

    private mutating func takeCommand(_ rest: inout ArraySlice<UInt8>) throws {
        var words = try ShellWords.popCommand(of: &rest)
        if let program = words.first, Self.programs.contains(program) { words.removeFirst() }
        guard !words.isEmpty else { return }
        if try takePlainWrite(words) { return }
        let command = try Defaultsctl.command(words)
        guard let command = command as? any EditingCommand else {
            throw ShellWords.Failure(
                message: "'\(words[0].inBrief)' cannot be a line of a document. Use write or delete"
            )
        }
        try command.addEdits(to: &self)
    }

    /// Takes a `write` without options.
    ///
    /// Nearly all lines are like this, and parsing options would take much longer.
    private mutating func takePlainWrite(_ words: [String]) throws -> Bool {
        guard words[0] == Write.verb else { return false }
        let arranged = try CommandWords.arranged(words)
        guard arranged.count > 4, arranged[1] == "--" else { return false }
        let edit = try Write.edit(
            of: arranged[3], in: arranged[2], to: Array(arranged[4...]), at: nil)
        try add(edit, of: arranged[3], in: arranged[2])
        return true
    }

    /// Adds an edit to those of its domain.
    ///
    /// - Throws: `ToolError` if the key is invalid, or if it is expected to have two different
    ///   generations.
    mutating func add(
        _ edit: Edit, of key: String, in domain: String, ifStillAt generation: UInt64? = nil
    ) throws {
        let place = places[domain] ?? domains.endIndex
        if place == domains.endIndex {
            domains.append(DomainEdits(of: domain, line: line))
            places[domain] = place
        }
        try domains[place].add(edit, of: key, ifStillAt: generation, line: line)
    }

    /// The words that may come before a verb.
    private static let programs: Set = ["defaultsctl", "defaults"]
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let newline = UInt8(ascii: "\n")

    private static func isSpace(_ byte: UInt8) -> Bool {
        [newline, UInt8(ascii: "\r"), UInt8(ascii: "\t"), UInt8(ascii: " ")].contains(byte)
    }

    private static func reason(_ error: any Error) -> ToolError {
        switch error {
        case let failure as ShellWords.Failure:
            return ToolError("\(failure.message).", ToolError.refused)
        case is ToolError, is LockedKey, is Unexpected, is DefaultsError, is DBusError:
            return ToolError(error)
        default:
            let message = Defaultsctl.message(for: error)
            return ToolError(message.isEmpty ? "\(error)" : message, ToolError.refused)
        }
    }
}

/// A verb that edits keys, which may also be a line of a document.
protocol EditingCommand {
    func addEdits(to document: inout ChangeDocument) throws
}

/// An edit as a JSON object: `domain`, `key`, and `value` or `"remove": true`.
///
/// `path` names a part of the value. With `ifGeneration` the edit is made only if the key still has
/// that generation.
struct ChangeObject {
    let domain: String
    let key: String
    let edit: Edit
    /// The generation that the key must still have; nil if any will do.
    let generation: UInt64?

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static let members: Set = ["domain", "key", "value", "remove", "path", "ifGeneration"]

    init(json: [UInt8]) throws {
        let object = try KeyedArchive(json: json)
        var names = MemberNames()
        try object.render(into: &names)
        if let other = names.names.first(where: { !Self.members.contains($0) }) {
            throw Failure(
                description:
                    "'\(other.onOneLine)' is not a member of a change. The members are domain, key, "
                    + "value, remove, path and ifGeneration.")
        }
        func member(_ name: String) throws -> KeyedArchive? {
            guard names.names.contains(name) else { return nil }
            return try object.value(at: ValuePath([.name(Text(name))]))
        }
        domain = try DomainWord(Self.string(member("domain"), "domain")).name
        key = try Self.string(member("key"), "key")
        let path = try member("path").map { try ValuePath(ofPart: Self.string($0, "path")) }
        edit = try Self.edit(
            value: member("value"), isRemoval: member("remove")?.jsonText() == "true", at: path)
        generation = try member("ifGeneration").map {
            guard let generation = UInt64(try $0.jsonText()) else {
                throw Failure(
                    description: "\"ifGeneration\" must be an integer that is not negative.")
            }
            return generation
        }
    }

    private static func edit(
        value: KeyedArchive?, isRemoval: Bool, at path: ValuePath?
    ) throws -> Edit {
        switch (value, isRemoval) {
        case (let value?, false): Edit.setting(path, to: value)
        case (nil, true): Edit.removing(path)
        default: throw Failure(description: "A change needs either \"value\" or \"remove\": true.")
        }
    }

    private static func string(_ archive: KeyedArchive?, _ name: String) throws -> String {
        var string = SingleString()
        try? archive?.render(into: &string)
        guard let text = string.text?.description else {
            throw Failure(description: "A change needs a \"\(name)\", which must be a string.")
        }
        return text
    }
}

/// The names of the members of a JSON object, without those of objects inside it.
struct MemberNames: PassiveSink {
    private(set) var names: Set<String> = []
    private var depth = 0

    mutating func key(_ key: Text) {
        if depth == 1 { names.insert(key.description) }
    }

    mutating func beginDictionary() { depth += 1 }
    mutating func endDictionary() { depth -= 1 }
    mutating func beginArray() { depth += 1 }
    mutating func endArray() { depth -= 1 }
}
