import Foundation
import TestSupport
import Testing

/// A client of a counter page that shares no code with us: a Python program that maps the file once
/// and looks at it when asked, by its own FNV.
///
/// It also damages files for the tests.
final class CounterPageClient {
    /// What a client sees of a page.
    struct Page: Codable, Equatable {
        var size: Int
        var mode: String
        var inode: Int
        /// Words 0 to 15; the identity of the database is separate.
        var header: [UInt64]
        /// The bytes of words 3 and 4 as hexadecimal digits.
        var database: String
        /// Each number that a slot has, and how many have it.
        var slots: [UInt64: Int]
        /// The slots of the domains that were asked for.
        var domains: [String: UInt64]
    }

    private let process: ChildProcess

    /// Maps the page at a path.
    init(mapping path: String) throws {
        process = try ChildProcess(
            ["/usr/bin/python3", "-c", CounterPageClient.program, path], input: .pipe,
            output: .lines)
        try #require(process.lines?.next() == "mapped")
    }

    /// What it sees now.
    func look(_ domains: String...) throws -> Page {
        try look(at: domains)
    }

    private func look(at domains: [String]) throws -> Page {
        try process.input?.write(contentsOf: Data((domains.joined(separator: " ") + "\n").utf8))
        let line = try #require(process.lines?.next())
        return try JSONDecoder().decode(Page.self, from: Data(line.utf8))
    }

    /// What a client sees that maps the page at a path now.
    static func look(at path: String, _ domains: String...) throws -> Page {
        try CounterPageClient(mapping: path).look(at: domains)
    }

    /// Runs a Python program on the file `f`, open for reading and writing, and its `path`.
    static func change(_ path: String, by program: String) throws {
        let status = try Scratch.output(
            of: "/usr/bin/python3", "-c",
            """
            import os, struct, sys
            path = sys.argv[1]
            with open(path, "r+b") as f:
                def put(word, *values):
                    f.seek(8 * word)
                    f.write(struct.pack(f"={len(values)}Q", *values))
                \(program)
            print("done")
            """, path)
        try #require(status == "done")
    }

    private static let program = """
        import collections, json, mmap, os, struct, sys

        def fnv1a(text):
            hash = 14695981039346656037
            for byte in text.encode():
                hash = (hash ^ byte) * 1099511628211 % 2**64
            return hash

        file = os.open(sys.argv[1], os.O_RDONLY)
        page = mmap.mmap(file, os.fstat(file).st_size, mmap.MAP_SHARED, mmap.PROT_READ)
        print("mapped", flush=True)
        for line in sys.stdin:
            status = os.fstat(file)
            words = struct.unpack(f"={len(page) // 8}Q", page[:])
            slots = collections.Counter(words[16:])
            print(json.dumps({
                "size": status.st_size, "mode": oct(status.st_mode), "inode": status.st_ino,
                "header": words[:3] + (0, 0) + words[5:16], "database": page[24:40].hex(),
                "slots": [item for pair in sorted(slots.items()) for item in pair],
                "domains": {domain: words[16 + fnv1a(domain) % words[1]]
                            for domain in line.split()},
            }), flush=True)
        """
}
