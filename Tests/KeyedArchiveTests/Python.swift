import Foundation

/// Runs Python, whose property list and JSON modules are the oracles that nobody here wrote.
enum Python {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs a program with `input` on its standard input, and gives what it prints.
    static func run(_ program: String, input: [UInt8] = []) throws -> [UInt8] {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "keyed-archive-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let inputFile = folder.appending(path: "input")
        let outputFile = folder.appending(path: "output")
        try Data(input).write(to: inputFile)
        try Data().write(to: outputFile)

        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = ["-c", program]
        process.standardInput = try FileHandle(forReadingFrom: inputFile)
        process.standardOutput = try FileHandle(forWritingTo: outputFile)
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "Python ended with \(process.terminationStatus).")
        }
        return Array(try Data(contentsOf: outputFile))
    }

    /// Whether two JSON texts are the same value: integers, reals and booleans kept apart, the order
    /// of keys left out of account.
    static func isSameJSON(_ left: [UInt8], _ right: [UInt8]) throws -> Bool {
        let program = """
            import json, struct, sys
            def canonical(v):
                if isinstance(v, dict): return {k: canonical(x) for k, x in v.items()}
                if isinstance(v, list): return [canonical(x) for x in v]
                if isinstance(v, float): return "real " + struct.pack(">d", v).hex()
                if isinstance(v, str): return "string " + v
                return repr(v)
            data = sys.stdin.buffer.read()
            size = int(data[:10])
            one, other = data[10:10 + size], data[10 + size:]
            print(canonical(json.loads(one)) == canonical(json.loads(other)))
            """
        let size = String(left.count)
        let header = String(repeating: "0", count: 10 - size.utf8.count) + size
        let answer = try run(program, input: Array(header.utf8) + left + right)
        return String(decoding: answer, as: UTF8.self) == "True\n"
    }
}
