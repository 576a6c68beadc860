import Foundation
import TestSupport

/// The program that archives with GNUstep, compiled once.
enum GNUstep {
    private static let source = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent()
        .appending(path: "../GNUstep/interop.m").standardized

    /// Whether an Objective-C compiler and GNUstep are here; says why not if they are missing.
    static let isInstalled: Bool = {
        do {
            try run(
                "/bin/sh", ["-c", "gnustep-config --base-libs && gcc -x objective-c -E /dev/null"])
            return true
        } catch {
            print(
                "The tests with GNUstep are left out: "
                    + "the packages gobjc and libgnustep-base-dev are not installed.")
            return false
        }
    }()

    private static let folder: Result<URL, any Error> = Result {
        let folder = URL(filePath: try TemporaryDirectory.shared().path)
        let command =
            "cd \"$0\" && gcc $(gnustep-config --objc-flags) -o interop \"$1\" "
            + "$(gnustep-config --base-libs)"
        try run("/bin/sh", ["-c", command, folder.path(), source.path()])
        return folder
    }

    /// The archives that GNUstep writes, by their names.
    static func written() throws -> [String: [UInt8]] {
        let output = try newFolder()
        try run(folder.get().appending(path: "interop").path(), ["write", output.path()])
        var archives: [String: [UInt8]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: output.path()) {
            archives[name] = Array(try Data(contentsOf: output.appending(path: name)))
        }
        return archives
    }

    /// What GNUstep reads from each archive, in one line.
    static func read(_ archives: [[UInt8]]) throws -> [String] {
        let input = try newFolder()
        var files: [String] = []
        for (number, bytes) in archives.enumerated() {
            let file = input.appending(path: "\(number)")
            try Data(bytes).write(to: file)
            files.append(file.path())
        }
        let output = try run(folder.get().appending(path: "interop").path(), ["read"] + files)
        return output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            .map(String.init)
    }

    /// A folder for one call alone, since tests run beside each other.
    private static func newFolder() throws -> URL {
        let new = try folder.get().appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: new, withIntermediateDirectories: true)
        return new
    }

    @discardableResult
    private static func run(_ program: String, _ arguments: [String]) throws -> String {
        try ProgramResult.run([program] + arguments).requireOutput()
    }
}
