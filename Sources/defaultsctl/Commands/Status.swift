import ArgumentParser
import DefaultsClient

struct Status: ServiceCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows what the service says of itself.")

    func run(with defaults: RemoteDefaults) async throws {
        let status = try await defaults.status()
        print("version             \(status.version)")
        print("database            \(status.databasePath)")
        print("generation          \(status.generation)")
        print("durable generation  \(status.durableGeneration)")
        print("pending changes     \(status.pendingChanges)")
        print("storage error       \(status.storageError.isEmpty ? "none" : status.storageError)")
        print("largest value       \(status.maximumValueSize) bytes")
        // A daemon that was not restarted yet may not know of the rest.
        guard let facts = try await defaults.facts() else { return }
        if let fileSystem = facts.fileSystem { print("file system         \(fileSystem.words)") }
        print("damage              \(facts.lastRescue?.words ?? "none")")
        guard let backups = try? await defaults.backups() else { return }
        print("backups             \(Self.summary(of: backups))")
    }

    private static func summary(of backups: [RemoteBackup]) -> String {
        guard let newest = backups.first else { return "none" }
        return "\(backups.count), the newest of \(LocalTime(newest.date).text)"
    }
}

extension ServiceFacts.FileSystem {
    fileprivate var words: String {
        isNetwork
            ? "\(name) (network: its server keeps the lock that keeps other machines out, and decides "
                + "when a write outlives a power cut)" : name
    }
}

extension ServiceFacts.Rescue {
    fileprivate var words: String { "\(LocalTime(time).text): \(report)" }
}
