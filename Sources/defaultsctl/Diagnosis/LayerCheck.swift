import DefaultsClient
import DefaultsFiles
import DefaultsModel
@preconcurrency import Glibc

/// Looks at the files of the administrator and the vendors, and at who can write those that are
/// mandatory.
struct LayerCheck {
    /// The paths of the files, in the order in which they are told.
    private let files: [String]
    /// Those of them that are mandatory.
    private let managedFiles: [String]
    /// What is wrong with which.
    private let complaints: [String]

    private static let managedDirectory = LayerPlaces.standard.managed

    /// Takes the files as the service has read them.
    init(_ files: [RemoteLayerFile]) {
        self.files = files.map(\.path)
        managedFiles = files.filter { $0.layer == .managed }.map(\.path)
        complaints = files.compactMap(\.complaint)
    }

    /// Reads the files as the service would, if none answers.
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
                "layers' files", files.isEmpty ? "There are none." : "\(files.count), all good")
        }
        let others = complaints.count > 1 ? " (and \(complaints.count - 1) more are bad)" : ""
        return .problem(
            "layers' files", "\(first)\(others)",
            "What was good of it before, if anything, still holds. 'defaultsctl lint' shows all that "
                + "is to be mended; tell who administers this machine.")
    }

    /// Whether only root can write what is mandatory.
    private func permissions() -> Finding? {
        var known: Set<String> = []
        let directories = ([Self.managedDirectory] + managedFiles.map(SystemFile.directory))
            .filter { known.insert($0).inserted }
        for path in directories + managedFiles {
            guard let status = SystemFile.status(of: path) else { continue }
            let quoted = ShellWord.quoted(path)
            if status.st_uid != 0 {
                return .warning(
                    "managed files", "\(path) is the user's of number \(status.st_uid).",
                    "Whoever can write it can prescribe values. As root: chown root \(quoted)")
            }
            if status.st_mode & (S_IWGRP | S_IWOTH) != 0 {
                return .warning(
                    "managed files", "\(path) can be written by others than root.",
                    "They can prescribe values. As root: chmod go-w \(quoted)")
            }
        }
        return nil
    }
}

/// A file of sections with keys, as activation files and units are.
struct KeyFile {
    let path: String
    private let values: [String: String]

    /// Reads a file; nil if that cannot be done.
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
