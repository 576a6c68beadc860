import ArgumentParser
import DefaultsClient

struct Read: ServiceCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints a value, all values of a domain, or everything.")

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @Argument(help: "The key; without it, all keys of the domain.")
    var key: String?

    @Flag(help: "Print JSON, in which every value keeps its type.")
    var json = false

    func run(with defaults: RemoteDefaults) async throws {
        if let key {
            let archive = try await defaults.archive(forKey: key, in: domain).archive
            print(try json ? archive.json() : archive.text())
        } else {
            try await printDomain(of: defaults)
        }
    }

    private func printDomain(of defaults: RemoteDefaults) async throws {
        let keys = try await defaults.keys(in: domain)
        guard !keys.isEmpty else { throw ToolError.noKeys(domain) }
        var members: [(key: String, value: String)] = []
        for key in keys {
            // A key that went away since it was listed is not there any more, which is no error.
            guard let entry = try? await defaults.archive(forKey: key, in: domain) else { continue }
            members.append((key, try json ? entry.archive.json() : entry.archive.text()))
        }
        if json {
            let body = members.map { "\(JSONText.string($0.key)):\($0.value)" }
            print("{\(body.joined(separator: ","))}")
        } else {
            for member in members { print("\(member.key) = \(member.value)") }
        }
    }
}
