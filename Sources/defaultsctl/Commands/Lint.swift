import ArgumentParser
import DefaultsFiles

struct Lint: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint",
        abstract: "Checks the files of administrators and vendors.",
        discussion: """
            A file is checked as the service reads it; - is standard input. A directory is checked \
            with all its files. Without arguments, /etc/defaultsd/managed, /etc/xdg/defaultsd and \
            /usr/share/defaultsd are checked. For a valid file nothing is printed. Other lines are

              FILE:LINE:COLUMN: error: what is wrong
              FILE:LINE:COLUMN: warning: what is ignored, or suspicious

            All errors of a file are reported. Only a syntax error in JSON or XML ends the check \
            of a file, because the rest cannot be parsed.

            It needs neither a bus nor a service. Exit status: 0, or 1 if there is an error. \
            defaultsd-managed(5) describes the files.
            """)

    @Argument(help: "Files and directories, or - for standard input.")
    var file: [String] = []

    @Option(
        help: "The kind of the files; by default it depends on their directory, or is managed.")
    var place: LayerPlace?

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let report = LintReport(of: file, as: place)
        if json {
            try SafeOutput.print(json: report.json())
        } else if !report.findings.isEmpty {
            try SafeOutput.print(report.text)
        }
        if report.errorCount > 0 { throw ExitCode.failure }
    }
}
