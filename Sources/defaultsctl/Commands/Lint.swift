import ArgumentParser
import DefaultsFiles

struct Lint: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks files of the administrator's and the vendors' values.",
        discussion: """
            A file is checked as the service reads it, - is standard input; a directory is checked with \
            all files in it, as one of the places. Without either, /etc/defaultsd/managed, /etc/xdg/defaultsd and \
            /usr/share/defaultsd are checked. A file that is good prints nothing; else each line is

              FILE:LINE:COLUMN: error: what is wrong
              FILE:LINE:COLUMN: warning: what is ignored, or suspicious

            All errors of a file are told. Only what is not JSON or XML at all ends its checking, as \
            nobody knows what comes after.

            It needs neither a bus nor a service. Exit status: 0, or 1 where there is an error. \
            defaultsd-managed(5) says what files are made of.
            """)

    @Argument(help: "Files and directories, or - for standard input.")
    var file: [String] = []

    @Option(
        help: "What they are for; otherwise told by where they are, and managed elsewhere.")
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
