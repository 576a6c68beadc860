#if !Programs
    #error("Build the programs with 'make build', or with 'swift build --traits Programs'.")
#endif

import DefaultsService
@preconcurrency import Glibc
import Logging

@main
enum Main {
    static func main() {
        Daemon.prepareProcess()
        do {
            let options = try CommandLineOptions(CommandLine.arguments.dropFirst())
            switch options.action {
            case .help: print(CommandLineOptions.help, terminator: "")
            case .version:
                print(options.isVerbose ? VersionReport.text : "defaultsd \(Daemon.version)")
            case .examine: exit(Examiner.serve().rawValue)
            case .serve: exit(serve(options).rawValue)
            }
        } catch {
            fputs("defaultsd: \(error); see defaultsd --help\n", stderr)
            exit(ExitStatus.usage.rawValue)
        }
    }

    private static func serve(_ options: CommandLineOptions) -> ExitStatus {
        // Files stay private to the user even if the code that creates one forgets to restrict it.
        umask(0o077)
        let logger = Logger(label: "defaultsd") { _ in
            ServiceLog(
                logLevel: options.isVerbose ? .debug : .info,
                form: options.showsPriorities ? .priorities : .ofStandardError)
        }
        return Daemon.run(options.daemon, logger: logger)
    }
}
