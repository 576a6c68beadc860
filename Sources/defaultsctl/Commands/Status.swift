import ArgumentParser
import DefaultsClient

struct Status: ServiceCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows what the service says of itself.")

    func run(with defaults: RemoteDefaults) async throws {
        let status = try await defaults.status()
        print("version             \(status.version)")
        print("database            \(status.databasePath)")
        if let fileSystem = try await defaults.fileSystem() {
            print("file system         \(fileSystem.words)")
        }
        print("generation          \(status.generation)")
        print("durable generation  \(status.durableGeneration)")
        print("pending changes     \(status.pendingChanges)")
        print("storage error       \(status.storageError.isEmpty ? "none" : status.storageError)")
        print("largest value       \(status.maximumValueSize) bytes")
    }
}

extension DatabaseFileSystem {
    fileprivate var words: String {
        isNetwork
            ? "\(name) (network: its server keeps the lock that keeps other machines out, and decides "
                + "when a write outlives a power cut)" : name
    }
}
