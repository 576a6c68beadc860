import Foundation
import TestTiers
import Testing

/// The programs that `make build` has built, and that these tests run.
enum ShippedPrograms {
    /// A file that is as new as the last `make build` when it began.
    private static let stamp = ".build/built"
    private static let sources = ["CDBus", "Package.swift", "Sources"]

    /// Requires that the programs are not older than their sources.
    ///
    /// - Throws: ``OutdatedPrograms``.
    static func requireNew() throws {
        if let outdated { throw outdated }
    }

    private static let outdated: OutdatedPrograms? = {
        guard let built = changed(stamp) else { return OutdatedPrograms(reason: "are not built") }
        guard let newer = files().first(where: { changed($0).map { $0 > built } ?? false }) else {
            return nil
        }
        return OutdatedPrograms(reason: "are older than \(newer)")
    }()

    /// All that the programs are made from: not the articles about the libraries, the package for Python and
    /// the examples in other languages.
    private static func files() -> [String] {
        sources.flatMap { source in
            let path = Desktop.packageDirectory + source
            let inside =
                FileManager.default.enumerator(atPath: path)?
                .compactMap { $0 as? String }.filter {
                    !$0.contains(".docc") && !$0.hasPrefix("Python/")
                        && !$0.hasPrefix("Examples/Player/")
                } ?? []
            return inside.isEmpty ? [source] : inside.map { "\(source)/\($0)" }
        }
    }

    /// When a file of the package was changed last; nil if it does not exist or is a folder.
    private static func changed(_ file: String) -> Date? {
        let path = Desktop.packageDirectory + file
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard attributes?[.type] as? FileAttributeType == .typeRegular else { return nil }
        return attributes?[.modificationDate] as? Date
    }
}

/// The programs do not have what the sources have now.
struct OutdatedPrograms: Error, CustomStringConvertible {
    let reason: String

    var description: String { "The programs in .build/release \(reason). Run 'make build'." }
}

@Suite(.startsPrograms) struct ShippedProgramsTests {
    @Test func `The programs that the tests run are as new as their sources`() {
        #expect(throws: Never.self) { try ShippedPrograms.requireNew() }
    }
}
