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
        let changes = try await defaults.changes(in: domain.map(Self.name))
        // The bus would wait in silence for a domain that cannot be.
        if let domain { _ = try await defaults.keys(in: domain) }
        // Line by line also into a pipe, where a watcher's reader waits for each.
        setlinebuf(stdout)
        for try await notice in changes {
            switch notice {
            case .change(let change) where isWatched(change): try await show(change, of: defaults)
            case .change: break
            case .missed: print("(some changes were missed)")
            }
        }
        throw ToolError.busWentAway
    }

    /// The name of a domain without the suffix of a layer, as the signal has it.
    private static func name(of domain: String) -> String {
        String(domain.prefix { $0 != "@" })
    }

    /// A name alone watches all layers of the domain.
    private func isWatched(_ change: DefaultsChange) -> Bool {
        guard let domain, domain.contains("@") else { return true }
        return change.domainWithLayer == domain
    }

    /// Prints the newest value of each key that changed.
    ///
    /// Where it was removed since, the next notice tells so.
    private func show(_ change: DefaultsChange, of defaults: RemoteDefaults) async throws {
        let domain = change.domainWithLayer
        for key in change.changed {
            do {
                let archive = try await defaults.archive(forKey: key, in: domain).archive
                print("\(domain) \(key.onOneLine) = \(try archive.jsonText())")
            } catch let error as DefaultsError where error.code == .notFound {
                continue
            } catch let error as ArchiveError {
                print("\(domain) \(key.onOneLine) has changed, and cannot be shown: \(error)")
            }
        }
        for key in change.removed { print("\(domain) \(key.onOneLine) removed") }
    }
}
