import DBus
import DefaultsPortal
import DefaultsTerms
import SystemCalls

/// The file that tells xdg-desktop-portal which backends to ask, from its version 1.17 on.
///
/// 1. The portal reads one file only: the first that it finds. So if the user has none, a copy of the
///    one in force is made, under the same name.
/// 2. An edit is one line, with comments before it that say how to take it back. Nothing else of the
///    file changes.
/// 3. A copy is removed with the edit, unless the user has changed it.
struct PortalConfiguration {
    /// The user's file, if the portal reads it or is to read it.
    let path: String
    /// The file in force; nil if there is none.
    private let source: String?
    private let text: String
    /// The backends that the portal asks if no file names any.
    private let otherwise: [String]

    /// Finds the file in force.
    ///
    /// - Parameter otherwise: The backends that the portal asks if no file names any.
    init(in places: PortalPlaces, otherwise: [String]) throws(ToolError) {
        self.otherwise = otherwise
        for directory in places.configurations {
            for name in places.names {
                let path = "\(directory)/\(name)"
                guard FileStatus.ifAny(path) != nil else { continue }
                let text = try Self.text(of: path)
                guard PreferredBackends(text).hasAny else { continue }
                (self.path, self.source, self.text) = ("\(places.own)/\(name)", path, text)
                return
            }
        }
        (path, source, text) = ("\(places.own)/\(PortalPlaces.general)", nil, "")
    }

    private static func text(of path: String) throws(ToolError) -> String {
        do {
            let bytes = try InputFile.contents(of: path, limit: 1 << 20)
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw ToolError.input(path, "It is not UTF-8.")
            }
            return text
        } catch let error as InputFile.Failure {
            throw .input(path, error.message)
        } catch let error as ToolError {
            throw error
        } catch {
            throw .input(path, "\(error)")
        }
    }

    /// Whether the portal asks defaultsd.
    var namesUs: Bool { PreferredBackends(text).settings?.contains(Self.backend) ?? false }

    /// The name of the file `defaultsd.portal` without its ending.
    static let backend = "defaultsd"

    // MARK: There

    /// Adds the line that names defaultsd.
    func write() throws(ToolError) {
        guard !namesUs else { return }
        guard source == path || FileStatus.ifAny(path) == nil else {
            throw ToolError.input(
                path,
                "The portal ignores it, as its group [preferred] is empty. Remove it, and try again."
            )
        }
        let header = source == path ? "" : Self.header(of: text, from: source)
        try AdoptionFiles.write(Array((header + Self.adding(line, to: text)).utf8), to: path)
    }

    /// The line, with the backends that the portal asks now after ours.
    private var line: String {
        let preferred = PreferredBackends(text)
        let others = (preferred.settings ?? preferred.general ?? otherwise).filter { $0 != "none" }
        return "\(PreferredBackends.settingsKey)="
            + ([Self.backend] + others).joined(separator: ";")
    }

    private static let mark = "# The next line is from 'defaultsctl adopt portal'."
    private static let replaced = "# It replaces: "

    private static func adding(_ line: String, to text: String) -> String {
        var lines = PreferredBackends.lines(of: text)
        if let index = PreferredBackends.lastLine(of: PreferredBackends.settingsKey, in: lines) {
            lines.replaceSubrange(index...index, with: [mark, replaced + lines[index], line])
        } else if let index = lines.firstIndex(where: PreferredBackends.isGroup) {
            lines.insert(contentsOf: [mark, line], at: index + 1)
        } else {
            lines = [PreferredBackends.group, mark, line, ""]
        }
        return lines.joined(separator: "\n")
    }

    // MARK: Back

    /// Removes the line from the user's files, and a file if it is a copy.
    static func remove(in places: PortalPlaces) throws(ToolError) {
        for name in Directory.readableNames(in: places.own)
        where name.hasSuffix(PortalPlaces.general) {
            try remove(from: "\(places.own)/\(name)")
        }
    }

    private static func remove(from path: String) throws(ToolError) {
        let text = try text(of: path)
        let restored = removing(from: text)
        guard restored != text else { return }
        let copy = content(ofCopy: restored)
        guard copy?.isUnchanged != true else { return try AdoptionFiles.remove(path) }
        try AdoptionFiles.write(Array((copy?.text ?? restored).utf8), to: path)
    }

    private static func removing(from text: String) -> String {
        var lines = PreferredBackends.lines(of: text)
        while let index = lines.firstIndex(of: mark) {
            var end = index + 1
            var former: [String] = []
            if end < lines.endIndex, lines[end].hasPrefix(replaced) {
                former = [String(lines[end].dropFirst(replaced.count))]
                end += 1
            }
            // A line that the user has put there stays, and takes the place of the former one.
            if end < lines.endIndex, PreferredBackends.isOurs(lines[end]) {
                end += 1
            } else {
                former = []
            }
            lines.replaceSubrange(index..<end, with: former)
        }
        return lines.joined(separator: "\n")
    }

    // MARK: Copies

    private static let copied = "# Made by 'defaultsctl adopt portal'"

    /// The first line of a copy, with a checksum of what follows without the edit.
    private static func header(of text: String, from source: String?) -> String {
        let origin = source.map { " from \($0)" } ?? ""
        return "\(copied)\(origin), checksum \(checksum(of: text))\n"
    }

    /// What follows the first line of a copy, and whether the user has not changed it; nil if the file is
    /// no copy.
    private static func content(ofCopy text: String) -> (text: String, isUnchanged: Bool)? {
        guard text.hasPrefix(copied), let end = text.firstIndex(of: "\n") else { return nil }
        let content = String(text[text.index(after: end)...])
        let sum = text[..<end].split(separator: " ").last.map(String.init)
        let isEmpty = content.filter { $0 != "\n" } == PreferredBackends.group
        return (content, sum == checksum(of: content) || isEmpty && sum == checksum(of: ""))
    }

    /// A checksum that finds changes by people (FNV-1a).
    private static func checksum(of text: String) -> String {
        String(CounterPageLayout.fnv1a(text.utf8), radix: 16)
    }
}

/// The group `preferred` of a file for the portal.
struct PreferredBackends {
    static let group = "[preferred]"
    static let settingsKey = Portal.interface.string

    /// Whether it has any key.
    private(set) var hasAny = false
    /// The backends for settings; nil if the file does not name them.
    private(set) var settings: [String]?
    /// The backends for everything else; nil if the file does not name them.
    private(set) var general: [String]?

    init(_ text: String) {
        Self.forEachKey(in: Self.lines(of: text)) { _, key, value in
            hasAny = true
            let names = value.split(separator: ";").map { $0.trimmed }
            if key == Self.settingsKey { settings = names }
            if key == "default" { general = names }
        }
    }

    /// The lines of a file, each with the carriage return that it may have at its end.
    static func lines(of text: String) -> [String] {
        text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// The last line of a key, which counts.
    static func lastLine(of key: String, in lines: [String]) -> Int? {
        var last: Int?
        forEachKey(in: lines) { index, name, _ in if name == key { last = index } }
        return last
    }

    static func isGroup(_ line: String) -> Bool { line[...].trimmed == group }

    /// Whether a line names defaultsd as the first backend for settings.
    static func isOurs(_ line: String) -> Bool {
        guard let (key, value) = pair(in: line), key == settingsKey else { return false }
        return value.split(separator: ";").first?.trimmed == PortalConfiguration.backend
    }

    private static func forEachKey(
        in lines: [String], _ body: (_ line: Int, _ key: String, _ value: String) -> Void
    ) {
        var isInside = false
        for (index, line) in lines.enumerated() {
            let text = line[...].trimmed
            if text.hasPrefix("[") { isInside = text == group }
            guard isInside, !text.hasPrefix("#"), let (key, value) = pair(in: line) else {
                continue
            }
            body(index, key, value)
        }
    }

    private static func pair(in line: String) -> (key: String, value: String)? {
        guard let sign = line.firstIndex(of: "=") else { return nil }
        return (line[..<sign].trimmed, line[line.index(after: sign)...].trimmed)
    }
}

extension Substring {
    /// The text without spaces at its ends.
    fileprivate var trimmed: String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" }
        return String(String(drop(while: isSpace)).reversed().drop(while: isSpace).reversed())
    }
}
