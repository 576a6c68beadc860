import TestSupport
import Testing
import YAMLDocuments

@testable import OwnedDocuments

/// Documents that nobody writes: each is read or has a fault, in bounded time and memory.
struct HostileDocumentTests {
    enum Form: String, CaseIterable {
        case json, list, yaml
    }

    /// What such texts are made of.
    private static let pieces: [String] = [
        "{", "}", "[", "]", ":", ",", "\"", "'", "- ", "\n", "  ", "&a ", "*a", "!!str ",
        "!!binary ", "|", ">",
        "? ", "---\n", "...\n", "%YAML 1.2\n", "#", "$ensure", "$merge", "$class", "$remove",
        "null", "0x1F",
        "1e999", "-0", "\u{FEFF}", "\u{0}", "é", "<dict>", "</dict>", "<key>", "</key>", "<array/>",
        "&amp;",
        "<!-- ", "<![CDATA[", "\\ud800", "~", "@", "`", "<<: ",
    ]

    private func outcome(_ bytes: [UInt8], _ form: Form) -> String? {
        do throws(DocumentError) {
            switch form {
            case .json: try read(JSONSource(bytes))
            case .list: try read(PropertyListSource(bytes))
            case .yaml: try read(YAMLSource(bytes))
            }
            return nil
        } catch {
            return error.message
        }
    }

    private func read(_ source: some DocumentSource) throws(DocumentError) {
        var reader = DocumentReader(source, onHost: "here")
        _ = try reader.document()
    }

    @Test(arguments: Form.allCases)
    func `A text that is changed anywhere is read, or has a fault with words`(_ form: Form) {
        var random = SeededGenerator(case: form.rawValue)
        let text =
            switch form {
            case .json: SourceTests.json
            case .list: SourceTests.list
            case .yaml: SourceTests.yaml
            }
        #expect(outcome(Array(text.utf8), form) == nil)
        var faults = 0
        for _ in 0..<(Thoroughness.isWhole ? 400_000 : 2000) {
            var bytes = Array(text.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                guard !bytes.isEmpty else { break }
                let place = Int.random(in: 0..<bytes.count, using: &random)
                let end = min(bytes.count, place + Int.random(in: 1...20, using: &random))
                switch Int.random(in: 0..<5, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.removeSubrange(place..<end)
                case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
                case 3: bytes.removeLast(bytes.count - max(place, 1))
                default:
                    let piece = Self.pieces[Int.random(in: 0..<Self.pieces.count, using: &random)]
                    bytes.insert(contentsOf: Array(piece.utf8), at: place)
                }
            }
            guard let fault = outcome(bytes, form) else { continue }
            faults += 1
            #expect(!fault.isEmpty)
        }
        #expect(faults > 500)
    }

    @Test(arguments: [
        String(repeating: "{\"a\":", count: 1 << 18),
        "{\"$defaults\": " + String(repeating: "[", count: 1 << 18),
        "{\"$defaults\": 1, \"owner\": \"a\", \"domains\": {\"a\": {\"k\": "
            + String(repeating: "{\"$merge\": {\"k\": ", count: 50_000),
    ])
    func `Too deep nesting is refused`(_ json: String) {
        #expect(outcome(Array(json.utf8), .json) != nil)
        #expect(outcome(Array(json.utf8), .yaml) != nil)
    }
}
