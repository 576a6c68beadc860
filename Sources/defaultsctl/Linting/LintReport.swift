import DefaultsFiles
import DefaultsModel
import DefaultsTerms
@preconcurrency import Glibc

/// What `lint` finds in files and directories.
struct LintReport {
    private(set) var findings: [LintFinding] = []

    var errorCount: Int { findings.count { $0.severity == .error } }

    /// Checks files and directories, or without any all files of the standard places.
    ///
    /// - Parameter place: What they are for; nil where that is to be told by where they are.
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

    /// The path of a directory as names are put behind it.
    private static func withoutSlashes(_ path: String) -> String {
        let end = path.lastIndex { $0 != "/" }
        return end.map { String(path[...$0]) } ?? "/"
    }

    /// A line for each.
    var text: String { findings.map(\.text).joined(separator: "\n") }

    /// All as one JSON object, with their numbers.
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
        let directories = Set([directory] + files.map { SystemFile.directory(of: $0.path) })
        findings += directories.flatMap(access)
        return findings.sorted()
    }

    private static func findings(inFile path: String, as place: LayerPlace) -> [LintFinding] {
        do throws(LayerProblem) {
            return findings(in: try LayerFile(path: path, in: place))
        } catch {
            // It is read all the same: it may be a copy that is to get its name yet.
            let findings = findings(in: LayerFile(path: path, domain: globalDomain(place.layer)))
            let isGone = findings.contains { $0.problem.code == .notFound }
            return (isGone ? [] : [LintFinding(.warning, error)]) + findings
        }
    }

    /// Reads standard input: there is no name to be checked.
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
            preconditionFailure("The global domain's name is that of no domain.")
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
        let (errors, remarks) = LayerDocument.findings(in: bytes, of: file)
        return (errors.map { LintFinding(.error, $0) } + remarks.map { LintFinding(.warning, $0) })
            .sorted()
    }

    private static func access(to path: String) -> [LintFinding] {
        LayerAccess.remarks(of: path).map { LintFinding(.warning, $0) }
    }

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
