public import Foundation

/// The lines that a running program prints, each waited for.
///
/// It is shared with the owner of the process (`@unchecked Sendable`), and read by one at a time.
public final class LineReader: @unchecked Sendable {
    private let file: FileHandle
    private var buffer = Data()

    /// Reads what the other end of a pipe writes.
    public init(_ file: FileHandle) {
        self.file = file
    }

    /// Waits until the program has printed a byte that no line has had.
    ///
    /// - Returns: Whether it has; false if it has closed its output.
    public func waitForByte() -> Bool {
        if buffer.isEmpty { buffer += file.availableData }
        return !buffer.isEmpty
    }

    /// The next line without its end; nil where the program has closed its output.
    public func next() -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: buffer[buffer.startIndex..<end], as: UTF8.self)
                buffer = Data(buffer[(end + 1)...])
                return line
            }
            let more = file.availableData
            if more.isEmpty { return nil }
            buffer += more
        }
    }
}
