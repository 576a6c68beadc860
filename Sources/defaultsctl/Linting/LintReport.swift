import ArgumentParser
import DefaultsFiles
import DefaultsModel
import DefaultsTerms
@preconcurrency import Glibc
import SystemCalls

/// What `lint` finds in files and directories.
struct LintReport {
    private(set) var findings: [LintFinding] = []

    var errorCount: Int { findings.count { $0.severity == .error } }

    /// Checks files and directories, or all files of the standard directories.
    ///
    /// - Parameter place: What the files are for; nil if their directory decides.
    init(of paths: [String], as place: LayerPlace?) {
        guard !paths.isEmpty else {
            for place in LayerPlace.allCases {
                findings += Self.findings(inDirectory: LayerPlaces.standard[place], as: place)
            }
            return
        }
        for path in paths {
            guard path != "-" else {
                findings += Self.findingsInInput(as: place ?? .managed)
                continue
            }
            let place = place ?? LayerPlace(holding: path) ?? .managed
            findings +=
                Self.isDirectory(path)
                ? Self.findings(inDirectory: Self.withoutSlashes(path), as: place)
                : Self.findings(inFile: path, as: place)
        }
    }

    /// The path of a directory, without slashes at its end.
    private static func withoutSlashes(_ path: String) -> String {
        let end = path.lastIndex { $0 != "/" }
        return end.map { String(path[...$0]) } ?? "/"
    }

    /// A line for each finding.
    var text: String { findings.map(\.text).joined(separator: "\n") }

    /// All findings as one JSON object, with their numbers.
    func json() throws -> String {
        try ShownJSON.object([
            ("errors", "\(errorCount)"), ("warnings", "\(findings.count - errorCount)"),
            ("findings", "[\(findings.map { try $0.json() }.joined(separator: ","))]"),
        ])
    }

    private static func findings(
        inDirectory directory: String, as place: LayerPlace
    ) -> [LintFinding] {
        let listing = LayerListing(of: directory, as: place)
        var findings = listing.problems.map(LintFinding.init(listed:))
        findings += listing.remarks.map { LintFinding(.warning, $0) }
        let files = listing.files.values.joined()
        for file in files { findings += Self.findings(in: file) }
        let directories = Set([directory] + files.map { Path.parent(of: $0.path) })
        findings += directories.flatMap(access)
        return findings.sorted()
    }

    private static func findings(inFile path: String, as place: LayerPlace) -> [LintFinding] {
        do throws(LayerProblem) {
            return findings(in: try LayerFile(path: path, in: place))
        } catch {
            // It is checked all the same, because it may be a copy that gets its final name later.
            let findings = findings(in: LayerFile(path: path, domain: globalDomain(place.layer)))
            let isGone = findings.contains { $0.problem.code == .notFound }
            return (isGone ? [] : [LintFinding(.warning, error)]) + findings
        }
    }

    /// Checks standard input, which has no name to check.
    private static func findingsInInput(as place: LayerPlace) -> [LintFinding] {
        let input = LayerFile(path: "standard input", domain: globalDomain(place.layer))
        do throws(InputFile.Failure) {
            return contents(
                try InputFile.contents(of: "-", limit: LayerFile.maximumSize), of: input)
        } catch {
            return [LintFinding(.error, .unreadable(input.path, error.message))]
        }
    }

    private static func globalDomain(_ layer: Layer) -> Domain {
        guard let domain = try? Domain(name: GlobalDomain.name, layer: layer) else {
            preconditionFailure("The global domain's name is invalid.")
        }
        return domain
    }

    private static func findings(in file: LayerFile) -> [LintFinding] {
        let outside =
            [file.nameRemark].compactMap(\.self).map { LintFinding(.warning, $0) }
            + access(to: file.path)
        do throws(LayerProblem) {
            return outside + contents(try file.read(), of: file)
        } catch {
            return outside + [LintFinding(.error, error)]
        }
    }

    private static func contents(_ bytes: [UInt8], of file: LayerFile) -> [LintFinding] {
        var (errors, remarks) = LayerDocument.findings(in: bytes, of: file)
        if let document = try? LayerDocument(bytes, of: file) {
            remarks += OptionRemarks.remarks(on: document, of: file)
        }
        return (errors.map { LintFinding(.error, $0) } + remarks.map { LintFinding(.warning, $0) })
            .sorted()
    }

    private static func access(to path: String) -> [LintFinding] {
        LayerAccess.remarks(of: path).map { LintFinding(.warning, $0) }
    }

    private static func isDirectory(_ path: String) -> Bool {
        FileStatus.ifAny(path)?.kind == .directory
    }
}

/// A finding about a file.
struct LintFinding {
    enum Severity: String {
        /// The file, or a part of it, is invalid.
        case error
        /// Something is ignored, or is probably a mistake.
        case warning
    }

    let severity: Severity
    let problem: LayerProblem

    init(_ severity: Severity, _ problem: LayerProblem) {
        self.severity = severity
        self.problem = problem
    }

    /// Makes a finding from a problem in a directory.
    ///
    /// Names that are ignored are not errors.
    init(listed problem: LayerProblem) {
        self.init(problem.code == .badName ? .warning : .error, problem)
    }

    /// One line in the form of compilers' messages.
    var text: String {
        let place = [problem.line, problem.column].compactMap { $0 }.map { ":\($0)" }.joined()
        return "\(problem.path)\(place): \(severity.rawValue): \(problem.reason)".onOneLine
    }

    func json() throws -> String {
        try ShownJSON.object([
            ("path", problem.path.quoted), ("line", problem.line.map { "\($0)" } ?? "null"),
            ("column", problem.column.map { "\($0)" } ?? "null"),
            ("severity", severity.rawValue.quoted), ("code", problem.code.name.quoted),
            ("reason", problem.reason.quoted),
        ])
    }
}

extension LintFinding: Comparable {
    private var place: (String, Int, Int) {
        (problem.path, problem.line ?? 0, problem.column ?? 0)
    }

    static func < (one: LintFinding, other: LintFinding) -> Bool { one.place < other.place }

    static func == (one: LintFinding, other: LintFinding) -> Bool { one.place == other.place }
}

extension LayerPlace: ExpressibleByArgument {}

extension LayerPlace {
    /// The standard directory that a file or a directory is in, or is; nil if there is none.
    init?(holding path: String) {
        let path = Self.real(path)
        for place in Self.allCases {
            let directory = Self.real(LayerPlaces.standard[place])
            if path == directory || path.hasPrefix(directory + "/") {
                self = place
                return
            }
        }
        return nil
    }

    /// The path without links, if it exists.
    private static func real(_ path: String) -> String {
        (try? Path.real(path)) ?? path
    }
}
