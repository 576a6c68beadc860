#if !Programs
    #error("Build the programs with 'make build', or with 'swift build --traits Programs'.")
#endif

import DBus
import DefaultsProtocol
import DefaultsRoaming
@preconcurrency import Glibc
import ServiceLife
import SystemCalls
import Wording

/// `defaultsd-roam`: keeps the defaults of a user the same on several machines.
@main
enum Main {
    static func main() {
        StandardDescriptors.fill()
        // Files stay private to the user even if the code that creates one forgets to restrict it.
        umask(0o077)
        do {
            switch try RoamOptions(CommandLine.arguments.dropFirst()).action {
            case .help: print(RoamOptions.help, terminator: "")
            case .version: print("defaultsd-roam \(Version.current)")
            case .serve: exit(serve())
            case .server(let command): exit(Administration.run(command))
            }
        } catch {
            complain("\(error); see defaultsd-roam --help")
            exit(EX_USAGE)
        }
    }

    /// Roams until a signal comes or the bus goes away.
    private static func serve() -> Int32 {
        do {
            let signals = try ProcessSignals()
            let loop = try EventLoop(isInOwnProcess: true)
            // Only the loop's thread uses these, and it is this thread.
            nonisolated(unsafe) var service: RoamService?
            nonisolated(unsafe) var status = EX_OK
            signals.deliver(on: loop) { received in
                switch (service, received) {
                case (let service?, .stop): service.assumeIsolated { $0.stop() }
                case (let service?, .refresh): Task { await service.refresh() }
                case (nil, .stop): loop.stop()
                case (nil, .refresh): break
                }
            }
            Task(executorPreference: loop) {
                do {
                    let new = makeService(on: try await Connection.open(.session, on: loop))
                    service = new
                    ServiceManager.notifyReady(status: "Starting")
                    try await new.run()
                } catch {
                    complain((error as? DBusError)?.message ?? "\(error)")
                    status = EX_UNAVAILABLE
                }
                loop.stop()
            }
            loop.run()
            return status
        } catch {
            complain("\(error)")
            return EX_UNAVAILABLE
        }
    }

    private static func makeService(on connection: Connection) -> RoamService {
        RoamService(
            on: connection, machine: machineName, log: complain,
            onStatus: { ServiceManager.notify(status: $0.line) }, describe: Engines.describe,
            makeEngine: Engines.make)
    }

    /// Writes a line to standard error, which is the journal if systemd has started the program.
    @Sendable static func complain(_ line: String) {
        fputs("defaultsd-roam: \(line)\n", stderr)
    }

    private static var machineName: String {
        var buffer = [CChar](repeating: 0, count: 256)
        gethostname(&buffer, buffer.count - 1)
        return String(
            decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension RoamStatus {
    /// The state in a line for `systemctl --user status`.
    fileprivate var line: String {
        switch state {
        case .off: "Roaming is not set up"
        case .paused: "Roaming is paused"
        case .upToDate:
            "\(counted(same, "key", verb: "is", "are")) the same here and there, \(waiting) to be sent"
        case .working: "Exchanging changes"
        case .failing: "Interrupted: \(problem)"
        }
    }
}
