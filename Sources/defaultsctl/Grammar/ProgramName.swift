/// The name by which the tool is called.
///
/// It decides what scripts of macOS could notice: see `Documentation/macos-compatibility.md`.
enum ProgramName {
    /// Our own name: what was probably not meant is refused, and errors are one sentence.
    case defaultsctl
    /// The name of macOS's tool, for which scripts expect its words and its answers.
    case defaults

    /// The name of this process.
    static let current = ProgramName(ofPath: CommandLine.arguments.first ?? "")

    init(ofPath path: String) {
        self = path.split(separator: "/").last == "defaults" ? .defaults : .defaultsctl
    }
}
