import Foundation
import TestTiers
import Testing

/// The three places that say what a module may import: the page on the architecture, Package.swift
/// and the sources.
@Suite(.startsPrograms) struct ModuleTableTests {
    private static func text(_ file: String) throws -> String {
        try String(contentsOfFile: Desktop.packageDirectory + file, encoding: .utf8)
    }

    /// The modules and programs of Package.swift, with what each depends on.
    private static func manifest() throws -> [String: Set<String>] {
        var modules: [String: Set<String>] = [:]
        for target in try text("Package.swift").split(separator: /\n {8}(?=\S)/) {
            guard let start = target.prefixMatch(of: /(?:module|program)\(\s*"(\w+)"/) else {
                continue
            }
            let dependencies = target[start.range.upperBound...]
                .replacing(/exclude: .*/.dotMatchesNewlines(), with: "")
                .replacing("logging", with: "\"Logging\"")
                .replacing("argumentParser", with: "\"ArgumentParser\"")
            modules[String(start.1)] = names(in: dependencies, /"(\w+)"/)
        }
        // It has no code: it is what builds both programs.
        modules["Programs"] = nil
        return modules
    }

    /// The rows of the page's table.
    private static func table() throws -> [String: Set<String>] {
        let page = try text("Documentation/architecture.md")
        let section = page.components(separatedBy: "\n## Modules\n").last ?? ""
        let rows = section.components(separatedBy: "\n## ")[0]
            .matches(of: /(?m)^\| `(\w+)` \| .* \| (.*) \|$/)
        return Dictionary(
            rows.map { (String($0.1), names(in: $0.2, /`(\w+)`/)) }, uniquingKeysWith: { $1 })
    }

    /// What the sources of a module import, the modules of Swift and of the system too.
    private static func imports(of module: String) throws -> Set<String> {
        let folder = Desktop.packageDirectory + "Sources/\(module)/"
        let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String }
        return try (files ?? []).filter { $0.hasSuffix(".swift") }.reduce(into: []) {
            let lines = try String(contentsOfFile: folder + $1, encoding: .utf8)
                .split(separator: "\n").filter { $0.contains("import ") }
            $0.formUnion(
                names(
                    in: lines.joined(separator: "\n"),
                    /(?m)^(?:[@a-z()_]+ )*import (?:[a-z]+ )?(\w+)/))
        }
    }

    private static func names(
        in text: some StringProtocol, _ name: Regex<(Substring, Substring)>
    ) -> Set<String> {
        Set(String(text).matches(of: name).map { String($0.1) })
    }

    @Test func `The table of modules, the manifest and the imports are the same`() throws {
        let (manifest, table) = (try Self.manifest(), try Self.table())
        #expect(manifest.count > 12)
        #expect(Set(table.keys) == Set(manifest.keys))
        let known = manifest.values.reduce(Set(manifest.keys)) { $0.union($1) }
        for (module, dependencies) in manifest {
            #expect(table[module] == dependencies, "\(module) in the table")
            let imports = try Self.imports(of: module).intersection(known)
            #expect(imports == dependencies, "\(module) in the sources")
        }
    }

    /// The Swift files of a module, by their paths in it.
    private static func sources(of module: String) throws -> [String: String] {
        let folder = Desktop.packageDirectory + "Sources/\(module)/"
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String }
        let files = (names ?? []).filter { $0.hasSuffix(".swift") }
        #expect(files.count > 20)
        return try Dictionary(
            uniqueKeysWithValues: files.map {
                ($0, try String(contentsOfFile: folder + $0, encoding: .utf8))
            })
    }

    @Test func `The storage has the date from outside`() throws {
        // Generations must increase although the clock of a test does not.
        let allowed: Set = [
            "Store/GenerationCounter.swift"
        ]
        let dating = /\btime\(nil|CLOCK_REALTIME|gettimeofday|\bDate\(\)/
        let files = try Self.sources(of: "DefaultsStorage").filter { $0.value.contains(dating) }
        #expect(Set(files.keys).isSubset(of: allowed), "\(files.keys)")
    }

    @Test func `The core takes nothing from the bus but the loop, and knows no door`() throws {
        for (file, source) in try Self.sources(of: "DefaultsCore") {
            let ofBus = source.matches(of: /(?m)^.*import .*\bDBus\b.*$/).map { String($0.output) }
            #expect(
                ofBus.allSatisfy {
                    $0.contains(
                        /import (class|struct) DBus\.(EventLoop|DirectoryWatch|WatchFailure)$/)
                }, "\(file): \(ofBus)")
            #expect(!source.contains(/(?i)xfconf|dconf|portal/), "\(file) names a door.")
            // Only the service's actor starts tasks, and only the loop has a clock.
            let ownTime = /\bTask *[({]|Clock\(\)|Clock\.now|\.now\(|\btime\(nil/
            #expect(!source.contains(ownTime), "\(file)")
        }
    }
}
