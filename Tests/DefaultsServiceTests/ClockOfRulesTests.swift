import Foundation
import Testing

/// Rules of the service have the clock of its loop, or a test could not move it.
@Suite struct ClockOfRulesTests {
    @Test func `No source of the service reads another clock than its loop's`() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/DefaultsService").standardizedFileURL
        let files = try #require(
            FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var count = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            count += 1
            let text = try String(contentsOf: file, encoding: .utf8)
            let reads = text.matches(
                of: /(Continuous|Suspending|System)Clock(\(\))?\.now|[(:=< ]\.now\b|Date\(\)/)
            #expect(reads.isEmpty, "\(file.lastPathComponent): \(reads.map(\.output.0))")
        }
        #expect(count > 30)
    }
}
