import DefaultsFiles
import DefaultsModel
import TestTiers
import Testing

/// Files that nobody writes by hand: each is a document or has a problem, in bounded time and memory.
@Suite(.startsPrograms) struct HostileFileTests {
    private static let small: [String: String] = [
        "JSON": #"{"a": [1, {"b": "\u00e9"}], "$locked": ["x*"], "c": {"$data": "AQ=="}}"#,
        "XML": xml(
            "<key>a</key><array><data>AQ==</data></array><key>$locked</key><array/><key>é</key><true/>"
        ),
    ]

    private func isToldApart(_ bytes: [UInt8]) -> Bool {
        do throws(any Error) {
            _ = try document(bytes)
            return true
        } catch {
            return (error as? LayerProblem).map { !$0.reason.isEmpty && $0.path == "a.json" }
                ?? false
        }
    }

    @Test(arguments: ["JSON", "XML", "binary"])
    func `A file that is cut anywhere, or has a wrong byte, is reported`(form: String) throws {
        let bytes: [UInt8]
        if let text = Self.small[form] {
            bytes = Array(text.utf8)
        } else {
            bytes = try python(
                "plistlib.dump({'a': [1, b'x', 'é'], '$locked': ['x*']}, out, fmt=plistlib.FMT_BINARY)"
            )
        }
        #expect(throws: Never.self) { try document(bytes) }
        for end in bytes.indices {
            #expect(isToldApart(Array(bytes[..<end])))
            #expect(throws: LayerProblem.self) {
                // Behind the end of the outermost element nothing more is needed.
                guard form != "XML" || end < bytes.count - 1 else { throw try problem("") }
                _ = try document(Array(bytes[..<end]))
            }
            for change: UInt8 in [0x01, 0x80, 0xFF] {
                var wrong = bytes
                wrong[end] ^= change
                #expect(isToldApart(wrong))
            }
        }
    }

    @Test(arguments: [
        String(repeating: "[", count: 1 << 20), String(repeating: "{\"a\":", count: 1 << 18),
        "{\"a\":" + String(repeating: "[", count: 1 << 20),
        "{\"a\":" + String(repeating: "[", count: 20_000) + String(repeating: "]", count: 20_000)
            + "}",
        "<plist><dict><key>a</key>" + String(repeating: "<array>", count: 1 << 18),
        String(repeating: "<plist>", count: 1 << 18),
    ])
    func `Too deep nesting is refused`(text: String) throws {
        _ = try problem(text)
    }

    @Test func `A value of the greatest allowed depth is accepted`() throws {
        let text =
            "{\"a\":" + String(repeating: "[", count: 9_000) + String(repeating: "]", count: 9_000)
            + "}"
        #expect(try document(text).values.count == 1)
    }

    @Test func `A value with more parts than a caller could set is refused`() throws {
        let text = "{\"a\": [0\(String(repeating: ",0", count: 1 << 18))]}"
        #expect(try problem(text).reason.contains("262144"))
    }

    @Test func `A file that is too large is refused, wherever its bytes come from`() throws {
        let bytes = [UInt8](repeating: 0x20, count: LayerFile.maximumSize + 1)
        #expect(try problem(bytes).code == .tooLarge)
    }

    @Test func `One large value shared by very many keys is refused`() throws {
        let bomb = try python(
            """
            large = b"x" * (1 << 20)
            # Python writes equal data once.
            plistlib.dump({f"k{n}": large for n in range(1000)}, out, fmt=plistlib.FMT_BINARY)
            """)
        #expect(bomb.count < 2 << 20)
        let problem = try problem(bomb)
        #expect(problem.code == .tooLarge && problem.reason.contains("64 MiB"))
    }

    @Test func `Nested lists that share all their elements are refused`() throws {
        let bomb = try python(
            """
            # Python's writer follows each reference, so the objects are laid out here.
            objects = [bytes([0xD1, 1, 2]), b"\\x51a"]
            objects += [bytes([0xA2, n + 1, n + 1]) for n in range(2, 62)] + [b"\\x51x"]
            table, body = [], b"bplist00"
            for o in objects:
                table.append(len(body)); body += o
            out.write(body + b"".join(n.to_bytes(2, "big") for n in table) + bytes(6) + bytes([2, 1])
                + len(objects).to_bytes(8, "big") + bytes(8) + len(body).to_bytes(8, "big"))
            """)
        let problem = try problem(bomb)
        #expect(problem.code == .badValue && problem.reason.contains("262144"), "\(problem)")
    }

    @Test func `Too many locks are refused`() throws {
        let locks = (0...1 << 16).map { "\"k\($0)\"" }.joined(separator: ",")
        let problem = try problem("{\"$locked\": [\(locks)]}")
        #expect(problem.code == .tooLarge && problem.reason.contains("65536"))
    }
}
