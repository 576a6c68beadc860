import DefaultsClient
import DefaultsFiles
import DefaultsModel
@preconcurrency import Glibc
import SystemCalls
import Wording

/// Checks the files of administrators and vendors, and who can write the mandatory ones.
struct LayerCheck {
    /// The paths of the files, in the order in which they are reported.
    private let files: [String]
    /// The mandatory ones.
    private let managedFiles: [String]
    /// The problems, each with its file.
    private let complaints: [String]

    private static let managedDirectory = LayerPlaces.standard.managed

    /// Uses the files as the service has read them.
    init(_ files: [RemoteLayerFile]) {
        self.files = files.map(\.path)
        managedFiles = files.filter { $0.layer == .managed }.map(\.path)
        complaints = files.compactMap(\.complaint)
    }

    /// Reads the files as the service would, if no service answers.
    init(readingFrom places: LayerPlaces) {
        let listing = LayerListing(of: places)
        let files = listing.files.values.joined().sorted { $0.path < $1.path }
        self.files = files.map(\.path)
        managedFiles = files.filter { $0.domain.layer == .managed }.map(\.path)
        complaints = (listing.problems + files.compactMap(Self.problem)).map(\.description)
    }

    func findings() -> [Finding] {
        [contents(), permissions()].compactMap(\.self)
    }

    private static func problem(of file: LayerFile) -> LayerProblem? {
        do throws(LayerProblem) {
            _ = try LayerDocument(file.read(), of: file)
            return nil
        } catch {
            return error
        }
    }

    private func contents() -> Finding {
        guard let first = complaints.first else {
            return .ok(
                "layers' files", files.isEmpty ? "There are none." : "\(files.count), all valid")
        }
        let others =
            complaints.count > 1
            ? " (and \(counted(complaints.count - 1, "more file", verb: "is", "are")) invalid)" : ""
        return .problem(
            "layers' files", "\(first)\(others)",
            "Its last valid contents, if any, stay in force. 'defaultsctl lint' lists all "
                + "errors. Tell the administrator of this machine.")
    }

    /// Checks whether only root can write mandatory files.
    private func permissions() -> Finding? {
        var known: Set<String> = []
        let directories = ([Self.managedDirectory] + managedFiles.map(Path.parent))
            .filter { known.insert($0).inserted }
        for path in directories + managedFiles {
            guard let status = FileStatus.ifAny(path) else { continue }
            let quoted = ShellWord.quoted(path)
            if status.owner != 0 {
                return .warning(
                    "managed files", "\(path) belongs to the user with number \(status.owner).",
                    "That user can set managed values. As root: chown root \(quoted)")
            }
            if status.mode & (S_IWGRP | S_IWOTH) != 0 {
                return .warning(
                    "managed files", "Other users than root can write \(path).",
                    "They can set managed values. As root: chmod go-w \(quoted)")
            }
        }
        return nil
    }
}

/// A file with sections and keys, such as an activation file or a unit.
struct KeyFile {
    let path: String
    private let values: [String: String]

    /// Reads a file; nil if that fails.
    init?(_ path: String) {
        guard let bytes = try? InputFile.contents(of: path, limit: 1 << 16) else { return nil }
        self.path = path
        var values: [String: String] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, !line.hasPrefix("#") else { continue }
            let name = parts[0].split(separator: " ").joined()
            if values[name] == nil { values[name] = Self.trimmed(parts[1]) }
        }
        self.values = values
    }

    subscript(name: String) -> String? { values[name] }

    /// The program that a command line of the file runs.
    func program(_ name: String) -> String? {
        values[name]?.split(separator: " ").first.map { String($0.drop { "-@:+!".contains($0) }) }
    }

    private static func trimmed(_ text: Substring) -> String {
        let start = text.drop { $0 == " " || $0 == "\t" }
        return String(start.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
