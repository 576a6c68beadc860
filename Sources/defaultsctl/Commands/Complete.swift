import ArgumentParser
@preconcurrency import Glibc

/// Called by the completion scripts of the shells, not by people.
struct Complete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "complete",
        abstract: "Prints what may be typed next, one candidate a line.", shouldDisplay: false)

    @Argument(help: "The words that are typed, the last one up to the cursor.")
    var words: [String] = []

    func run() async throws {
        let completion = Completion(tool: try CommandOutline.ofTool(), names: LiveNames())
        switch await completion.next(after: words.dropLast(), current: words.last ?? "") {
        case .file: throw ExitCode(Self.file)
        case .words(let candidates):
            for line in candidates.compactMap(\.line) { try SafeOutput.print(line) }
        }
    }

    /// The exit status that makes a shell complete file names.
    private static let file: Int32 = 10
}
