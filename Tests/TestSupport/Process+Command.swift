public import Foundation

extension Process {
    /// A process for a program that is looked for in PATH; not started yet.
    public convenience init(_ command: [String], environment: [String: String]? = nil) {
        self.init()
        executableURL = URL(filePath: "/usr/bin/env")
        arguments = command
        if let environment { self.environment = environment }
    }
}

extension LineReader {
    /// Reads what the other end of a pipe writes.
    public convenience init(_ pipe: Pipe) {
        self.init(pipe.fileHandleForReading)
    }
}
