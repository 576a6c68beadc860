import ArgumentParser
import DefaultsClient
import DefaultsProtocol
@preconcurrency import Glibc
import KeyedArchive

struct Watch: ServiceCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints each change as it is made, until interrupted.")

    @Argument(help: "The domain to watch; without it, all.")
    var domain: String?

    func run(with defaults: RemoteDefaults) async throws {
        let changes = try await defaults.changes(in: domain)
        // Line by line also into a pipe, where a watcher's reader waits for each.
        setlinebuf(stdout)
        for try await notice in changes {
            switch notice {
            case .change(let change): try await show(change, of: defaults)
            case .missed: print("(some changes were missed)")
            }
        }
        throw ToolError.busWentAway
    }

    private func show(_ change: DefaultsChange, of defaults: RemoteDefaults) async throws {
        let domain = change.domainWithLayer
        for key in change.changed {
            // The signal names the key; what is read is the newest value, or none where it was removed
            // since, which the next notice tells.
            let archive: KeyedArchive
            do {
                archive = try await defaults.archive(forKey: key, in: domain).archive
            } catch let error as DefaultsError where error.code == .notFound {
                continue
            }
            print("\(domain) \(key) = \(try archive.jsonText())")
        }
        for key in change.removed { print("\(domain) \(key) removed") }
    }
}
