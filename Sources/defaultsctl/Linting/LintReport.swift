import DefaultsFiles
import DefaultsModel
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
            let place = place ?? LayerPlace(holding: path) ?? .managed
            findings +=
                Self.isDirectory(path)
                ? Self.findings(inDirectory: path, as: place)
                : Self.findings(inFile: path, as: place)
        }
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
        for file in listing.files.values.joined() { findings += Self.findings(in: file) }
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

    private static func globalDomain(_ layer: Layer) -> Domain {
        guard let domain = try? Domain(name: GlobalDomain.name, layer: layer) else {
            preconditionFailure("The global domain's name is that of no domain.")
        }
        return domain
    }

    private static func findings(in file: LayerFile) -> [LintFinding] {
        do throws(LayerProblem) {
            let document = try LayerDocument(file.read(), of: file)
            return document.remarks.map { LintFinding(.warning, $0) }.sorted()
        } catch {
            return [LintFinding(.error, error)]
        }
    }

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
