/// The name by which the tool is called.
///
/// It decides what scripts of macOS could notice: see `Documentation/macos-compatibility.md`.
enum ProgramName {
    /// Our own name: what was probably not meant is refused, and errors are one sentence.
    case defaultsctl
    /// The name of macOS's tool, for which scripts expect its words and its answers.
    case defaults

    /// The name of the program that runs.
    static var current: ProgramName { ProgramName(ofPath: Defaultsctl.console.words.first ?? "") }

    init(ofPath path: String) {
        self = path == "defaults" || path.hasSuffix("/defaults") ? .defaults : .defaultsctl
    }
}
