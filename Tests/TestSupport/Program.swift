import Foundation

/// Makes the programs that tests run.
///
/// The system refuses to run a file that a process has open for writing (`ETXTBSY`). A process that is
/// started by another thread has copies of all descriptors until it runs its own program. So no process
/// that starts others may have a program open for writing, not even for a moment and not even with
/// close-on-exec. Here a child writes it, which starts nothing, and has ended when a function returns.
public enum Program {
    /// Makes a script that can be run.
    ///
    /// - Parameters:
    ///   - script: Its text, with the line that names its interpreter.
    ///   - path: Where it is made; a file that is there is replaced.
    public static func make(_ script: String, at path: String) throws {
        // This file is never run.
        let text = path + ".text"
        try script.write(toFile: text, atomically: false, encoding: .utf8)
        try copy(text, to: path)
        try FileManager.default.removeItem(atPath: text)
    }

    /// Copies a program.
    ///
    /// - Parameters:
    ///   - program: The path of the program.
    ///   - path: The path of the copy; a file that is there is replaced.
    public static func copy(_ program: String, to path: String) throws {
        try ProgramResult.run(["install", "-m", "755", program, path]).requireOutput()
    }

    /// Gives a program another name.
    ///
    /// - Parameters:
    ///   - path: The name, which no file has.
    ///   - program: The path of the program.
    public static func link(_ path: String, to program: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: program)
    }
}
