import Glibc
import SystemCalls

/// The applications with desktop files, in which `-app NAME` finds an application ID.
///
/// See the [Desktop Entry Specification]
/// (https://specifications.freedesktop.org/desktop-entry-spec/latest/).
struct DesktopApplications {
    /// The folders with desktop files.
    ///
    /// Of files with the same name, the first counts.
    private let folders: [String]

    private static let deepestFolder = 8
    private static let mostSuggestions = 5

    /// The applications of the user and of the system, as the environment says.
    static var installed: DesktopApplications {
        func variable(_ name: String) -> String? {
            Defaultsctl.console.variable(name).flatMap { $0.isEmpty ? nil : $0 }
        }
        let home = variable("XDG_DATA_HOME") ?? (variable("HOME") ?? "") + "/.local/share"
        let others = variable("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share"
        let folders = [home] + others.split(separator: ":").map(String.init)
        // The specification says that paths that are not absolute must be ignored.
        return DesktopApplications(
            folders: folders.filter { $0.hasPrefix("/") }.map { $0 + "/applications" })
    }

    /// The application ID for a name that a person gives.
    ///
    /// An ID comes before names, and a name before the last part of an ID (`Nautilus` of
    /// `org.gnome.Nautilus`). Case does not matter.
    func identifier(of word: String) throws(ToolError) -> String {
        let applications = entries()
        // The file name is the ID with an ending.
        let word = word.hasSuffix(".desktop") ? String(word.dropLast(".desktop".count)) : word
        let name = word.lowercased()
        let ways: [(DesktopEntry) -> Bool] = [
            { $0.identifier == word }, { $0.identifier.lowercased() == name },
            { $0.names.contains { $0.lowercased() == name } },
            { $0.identifier.lowercased().split(separator: ".").last.map(String.init) == name },
        ]
        for way in ways {
            let found = applications.filter(way)
            if found.count == 1 { return found[0].identifier }
            guard found.isEmpty else {
                throw .severalApplications(word, found.map(\.identifier).sorted())
            }
        }
        let near = applications.filter { entry in
            // Nearly every name has a word of one or two letters in it.
            name.count > 2
                && ([entry.identifier] + entry.names).contains { $0.lowercased().contains(name) }
        }
        throw .noApplication(
            word, near: near.map(\.identifier).sorted().prefix(Self.mostSuggestions),
            of: applications.count)
    }

    private func entries() -> [DesktopEntry] {
        var entries: [DesktopEntry] = []
        var known: Set<String> = []
        for folder in folders {
            for (identifier, path) in Self.files(in: folder) where known.insert(identifier).inserted
            {
                if let entry = DesktopEntry(identifier: identifier, path: path) {
                    entries.append(entry)
                }
            }
        }
        return entries
    }

    /// The desktop files in a folder and its subfolders, by their IDs.
    ///
    /// The names of subfolders are part of the ID, joined by hyphens.
    private static func files(in folder: String) -> [(identifier: String, path: String)] {
        var files: [(String, String)] = []
        var waiting = [(path: folder, prefix: "", depth: 0)]
        while let (path, prefix, depth) = waiting.popLast() {
            for name in names(in: path) {
                let inner = "\(path)/\(name)"
                if name.hasSuffix(".desktop") {
                    files.append((prefix + name.dropLast(".desktop".count), inner))
                } else if depth < deepestFolder, isFolder(inner) {
                    waiting.append((inner, "\(prefix)\(name)-", depth + 1))
                }
            }
        }
        return files
    }

    private static func names(in folder: String) -> [String] {
        Directory.readableNames(in: folder).sorted()
    }

    private static func isFolder(_ path: String) -> Bool {
        FileStatus.ifAny(path)?.kind == .directory
    }
}

/// The contents of a desktop file.
struct DesktopEntry {
    private static let largestFile = 1 << 20

    /// The file name without its ending, which is the application ID.
    let identifier: String
    /// The name in each language.
    let names: [String]

    /// Reads a desktop file; nil if it cannot be read, or if it says that the application is not
    /// installed.
    init?(identifier: String, path: String) {
        guard let bytes = try? InputFile.contents(of: path, limit: Self.largestFile) else {
            return nil
        }
        self.identifier = identifier
        var names: [String] = []
        var isMainGroup = false
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") {
                isMainGroup = line.hasPrefix("[Desktop Entry]")
            } else if isMainGroup, let (key, value) = Self.entry(line) {
                if key == "Hidden", value == "true" { return nil }
                if key == "Name" || key.hasPrefix("Name[") { names.append(value) }
            }
        }
        self.names = names
    }

    private static func entry(_ line: Substring) -> (key: Substring, value: String)? {
        guard let equals = line.firstIndex(of: "="), !line.hasPrefix("#") else { return nil }
        let key = line[..<equals].split(separator: " ").first ?? ""
        let value = line[line.index(after: equals)...].drop { $0 == " " }
        return (key, String(value))
    }
}
