import Foundation
import TestSupport

/// Simulates a fleet: many machines of many users at a real PostgreSQL server, which it starts.
///
/// Prints what was measured, and the arithmetic for more users. The options are in ``FleetOptions``.
@main
enum Main {
    static func main() async {
        guard PostgresServer.isAvailable else {
            print("skipped: \(PostgresServer.missing)")
            exit(77)
        }
        do {
            var options = try FleetOptions(CommandLine.arguments.dropFirst())
            if options.waiting.contains(.pool), !Pooler.isAvailable {
                print("skipped, the machines that ask through a pooler: \(Pooler.missing)")
                options.waiting.removeAll { $0 == .pool }
            }
            print("load before: \(load())")
            for line in try await report(options).lines { print(line) }
            print("\nload after: \(load())")
        } catch {
            FileHandle.standardError.write(Data("RoamFleet: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func report(_ options: FleetOptions) async throws -> Report {
        let fleet = try await Fleet(options)
        var stages: [Stage] = []
        for waiting in options.waiting { stages.append(try await fleet.run(waiting)) }
        return Report(options: options, stages: stages, keySize: fleet.keySize ?? 0)
    }

    /// What others do on the machine, which lengthens all times.
    private static func load() -> String {
        let text = try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)
        return text?.split(separator: " ").first.map(String.init) ?? "unknown"
    }
}
