import Foundation

/// Runs Python, whose property list, JSON and SQLite modules are oracles that this project did not write.
public enum Python {
    /// Runs a program.
    ///
    /// - Parameters:
    ///   - program: The text of the program.
    ///   - input: What it reads from standard input.
    ///   - arguments: Its arguments, from `sys.argv[1]`.
    /// - Returns: The bytes that it prints.
    /// - Throws: ``ProgramFailure`` if it fails.
    public static func run(
        _ program: String, input: [UInt8] = [], arguments: [String] = []
    ) throws -> [UInt8] {
        let directory = try TemporaryDirectory()
        let (inputFile, outputFile) = (directory.path + "/input", directory.path + "/output")
        try Data(input).write(to: URL(filePath: inputFile))
        let child = try ChildProcess(
            ["/usr/bin/python3", "-c", program] + arguments, input: .file(inputFile),
            output: .file(outputFile), error: .file(directory.path + "/error"))
        let status = child.waitUntilExit()
        guard status == 0 else {
            let error = try Data(contentsOf: URL(filePath: directory.path + "/error"))
            throw ProgramFailure(
                result: ProgramResult(
                    status: status, output: "", error: String(decoding: error, as: UTF8.self)))
        }
        return Array(try Data(contentsOf: URL(filePath: outputFile)))
    }

    /// Whether two JSON texts are the same value.
    ///
    /// Integers, reals and booleans differ from each other. The order of keys does not matter.
    public static func isSameJSON(_ left: [UInt8], _ right: [UInt8]) throws -> Bool {
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
