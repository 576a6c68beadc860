import ArgumentParser
import Glibc
import SystemCalls

/// Where the passphrase of an encrypted place comes from.
///
/// It is never a word of the command line, which other users can see.
struct PassphraseOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read the passphrase from the first line of this file, - for standard input. Otherwise "
                + "it is asked for on the terminal.", valueName: "file"))
    var passphraseFile: String?

    private static let mostBytes = 4096

    /// Whether a person types it, who may make a mistake.
    var isTyped: Bool { passphraseFile == nil }

    /// Reads the passphrase.
    ///
    /// - Parameter question: What a person is asked.
    /// - Throws: `ToolError` if there is none.
    func read(_ question: String) throws -> String {
        guard let passphraseFile else { return try HiddenLine.read(question) }
        let line = try Self.contents(of: passphraseFile).prefix {
            $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r")
        }
        guard !line.isEmpty, let text = String(validating: line, as: UTF8.self),
            !text.utf8.contains(0)
        else { throw ToolError.noPassphrase }
        return text
    }

    private static func contents(of path: String) throws(ToolError) -> [UInt8] {
        do throws(InputFile.Failure) {
            return try InputFile.contents(of: path, limit: mostBytes)
        } catch {
            throw .input(path == "-" ? "standard input" : path, error.message)
        }
    }

    /// Reads a new passphrase, which a person types twice.
    ///
    /// - Parameter first: What was typed already; nil if it was not.
    func readNew(after first: String? = nil) throws -> String {
        let passphrase = try first ?? read("New passphrase: ")
        if isTyped, try read("The same again: ") != passphrase {
            throw ToolError.differentPassphrases
        }
        return passphrase
    }
}

/// A line that a person types on the terminal, without being shown.
private enum HiddenLine {
    static func read(_ question: String) throws -> String {
        guard let terminal = try? File("/dev/tty", O_RDWR) else { throw ToolError.noTerminal }

        var before = termios()
        guard tcgetattr(terminal.descriptor, &before) == 0 else { throw ToolError.noTerminal }
        var hidden = before
        // The keys that end a program arrive as bytes, so the terminal is always as it was in the end.
        hidden.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        guard tcsetattr(terminal.descriptor, TCSAFLUSH, &hidden) == 0 else {
            throw ToolError.noTerminal
        }
        defer {
            tcsetattr(terminal.descriptor, TCSAFLUSH, &before)
            say("\n", on: terminal.descriptor)
        }
        say(question, on: terminal.descriptor)
        return try line(from: terminal.descriptor)
    }

    private static func say(_ text: String, on descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = Glibc.write(descriptor, bytes, bytes.count)
    }

    private static let interrupt: UInt8 = 3
    private static let endOfInput: UInt8 = 4
    private static let clear: UInt8 = 21
    private static let erasing: Set<UInt8> = [8, 127]
    private static let lineEnds = Set("\r\n".utf8)

    private static func line(from descriptor: Int32) throws -> String {
        var line: [UInt8] = []
        while true {
            var byte: UInt8 = 0
            let count = Glibc.read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            if count <= 0 || byte == interrupt || byte == endOfInput {
                throw ToolError.noPassphrase
            }
            if lineEnds.contains(byte) { break }
            if byte == clear {
                line = []
            } else if erasing.contains(byte) {
                // A character may have several bytes, of which all but the first begin with 10.
                while let last = line.popLast(), last & 0xC0 == 0x80 {}
            } else {
                line.append(byte)
            }
        }
        guard !line.isEmpty, let text = String(validating: line, as: UTF8.self),
            !text.utf8.contains(0)
        else { throw ToolError.noPassphrase }
        return text
    }
}
