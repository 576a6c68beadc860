import ArgumentParser
import DefaultsClient
import DefaultsProtocol
import KeyedArchive

struct Read: ServiceCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints a value, or all values of a domain.")

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @Argument(help: "The key; without it, all keys of the domain.")
    var key: String?

    @OptionGroup var part: PathOption

    @Flag(help: "Print JSON, in which every value keeps its type.")
    var json = false

    func validate() throws {
        if part.path != nil, key == nil {
            throw ValidationError("--path leads into the value of a key; name the key.")
        }
    }

    func run(with defaults: RemoteDefaults) async throws {
        if let key {
            var archive = try await defaults.archive(forKey: key, in: domain).archive
            if let path = part.path { archive = try archive.value(at: path) }
            print(try text(of: archive, key: key))
        } else {
            try await printDomain(of: defaults)
        }
    }

    private func printDomain(of defaults: RemoteDefaults) async throws {
        let entries = try await entries(of: defaults)
        guard !entries.isEmpty else { throw ToolError.noKeys(in: domain) }
        if json {
            let members = try entries.map {
                "\(try $0.key.quoted):\(try text(of: $0.archive, key: $0.key))"
            }
            print("{\(members.joined(separator: ","))}")
        } else {
            try printLines(of: entries)
        }
    }

    /// Prints what can be shown, and then fails with the first that cannot.
    private func printLines(of entries: [(key: String, archive: KeyedArchive)]) throws {
        var failure: ToolError?
        for (key, archive) in entries {
            do {
                print("\(key.onOneLine) = \(try text(of: archive, key: key))")
            } catch let error as ToolError {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    private func text(of archive: KeyedArchive, key: String) throws -> String {
        do {
            return try json ? archive.jsonText() : archive.plainText()
        } catch let error as ArchiveError {
            throw ToolError.cannotShow(key, because: error)
        }
    }

    private func entries(
        of defaults: RemoteDefaults
    ) async throws -> [(key: String, archive: KeyedArchive)] {
        var entries: [(key: String, archive: KeyedArchive)] = []
        for key in try await defaults.keys(in: domain) {
            do {
                entries.append((key, try await defaults.archive(forKey: key, in: domain).archive))
            } catch let error as DefaultsError where error.code == .notFound {
                // It went away since the keys were listed, so it is not of the domain any more.
                continue
            }
        }
        return entries
    }
}
