import Foundation

/// The archives of real programs, where the folder that holds them lies beside the package.
enum Fixtures {
    struct Fixture: Sendable, CustomStringConvertible {
        let name: String
        let bytes: [UInt8]
        /// The value form, where the fixture has one.
        let expected: URL?

        var isBinary: Bool { bytes.starts(with: Array("bplist".utf8)) }
        var description: String { name }
    }

    static let folder: URL? = {
        var folder = URL(filePath: #filePath).deletingLastPathComponent()
        while folder.path() != "/" {
            folder = folder.deletingLastPathComponent()
            let archives = folder.appending(path: "../shared/fixtures/archives").standardized
            if FileManager.default.fileExists(atPath: archives.path()) { return archives }
        }
        print("The fixtures are not beside the package; their tests have nothing to test.")
        return nil
    }()

    static let keyed = all(in: "valid-keyed")
    static let notKeyed = all(in: "valid-plist-not-keyed")
    static let malformed = all(in: "malformed")

    static var all: [Fixture] { keyed + notKeyed + malformed }

    private static func all(in kind: String) -> [Fixture] {
        guard let folder else { return [] }
        let kindFolder = folder.appending(path: kind)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: kindFolder.path())) ?? []
        return names.sorted().compactMap { name in
            guard let data = try? Data(contentsOf: kindFolder.appending(path: name)) else {
                return nil
            }
            let expected = folder.appending(path: "expected/\(name).json")
            let exists = FileManager.default.fileExists(atPath: expected.path())
            return Fixture(name: name, bytes: Array(data), expected: exists ? expected : nil)
        }
    }
}
