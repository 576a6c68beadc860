public import Foundation

/// Archives that other programs wrote.
///
/// Those of `Tests/Archives` are part of the project. Those of `../shared/fixtures` come on top if
/// that folder is beside the package.
public enum Fixtures {
    /// A file with the bytes of one archive, or of something that resembles one.
    public struct Fixture: Sendable, CustomStringConvertible {
        /// The name of the file.
        public let name: String
        /// The path of the file.
        public let path: String
        /// What the file has.
        public let bytes: [UInt8]
        /// The file with the value form in JSON; only of a keyed archive.
        public let expected: URL

        /// Whether it is a binary property list, and not one in XML.
        public var isBinary: Bool { bytes.starts(with: Array("bplist".utf8)) }

        /// The name of the file.
        public var description: String { name }
    }

    /// Keyed archives.
    public static let keyed = own("keyed") + shared("valid-keyed")

    /// Property lists of another kind.
    public static let notKeyed = own("other") + shared("valid-plist-not-keyed")

    /// Keyed archives with a fault, and bytes that are not even a property list.
    public static let malformed = own("malformed") + shared("malformed")

    /// All of them.
    public static var all: [Fixture] { keyed + notKeyed + malformed }

    /// Whether the folder beside the package is there.
    public static let hasShared = FileManager.default.fileExists(
        atPath: sharedFolder.path(percentEncoded: false))

    private static let tests = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent()
    private static let sharedFolder =
        tests.appending(path: "../../shared/fixtures/archives").standardized

    private static func own(_ kind: String) -> [Fixture] {
        fixtures(in: tests.appending(path: "Archives"), kind)
    }

    private static func shared(_ kind: String) -> [Fixture] {
        hasShared ? fixtures(in: sharedFolder, kind) : []
    }

    private static func fixtures(in folder: URL, _ kind: String) -> [Fixture] {
        let path = folder.path(percentEncoded: false) + "/" + kind
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.sorted().compactMap { name in
            let file = "\(path)/\(name)"
            guard let data = FileManager.default.contents(atPath: file) else { return nil }
            return Fixture(
                name: name, path: file, bytes: Array(data),
                expected: folder.appending(path: "expected/\(name).json"))
        }
    }
}
