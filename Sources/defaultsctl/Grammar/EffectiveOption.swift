import ArgumentParser
import DefaultsClient
import DefaultsProtocol
import KeyedArchive

/// Whether a verb is for what holds for an application, in the place of what one layer has.
struct EffectiveOption: ParsableArguments {
    @Flag(help: "What holds for the application, whichever layer it is from.")
    var effective = false

    /// Refuses the domain of one layer where all are looked into.
    func check(_ domain: String?) throws(ToolError) {
        if effective { try SearchedDomain.check(domain) }
    }

    /// The value of a key.
    ///
    /// - Throws: `ToolError` with what was perhaps meant, where there is none.
    func archive(
        forKey key: String, in domain: String, of defaults: RemoteDefaults
    ) async throws -> KeyedArchive {
        do {
            return effective
                ? try await defaults.lookUp(key, in: domain).archive
                : try await defaults.archive(forKey: key, in: domain).archive
        } catch let error as DefaultsError where error.code == .notFound {
            throw await defaults.noPair(domain, key, amongEffective: effective)
        }
    }

    /// All keys with their values.
    func entries(in domain: String, of defaults: RemoteDefaults) async throws -> [DefaultsEntry] {
        effective
            ? try await defaults.effectiveEntries(in: domain)
            : try await defaults.entries(in: domain).entries
    }

    /// All keys.
    func keys(in domain: String, of defaults: RemoteDefaults) async throws -> [String] {
        effective
            ? try await defaults.effectiveKeys(in: domain) : try await defaults.keys(in: domain)
    }
}

/// A domain that is looked up in all its layers.
enum SearchedDomain {
    /// Refuses one that names a layer.
    static func check(_ domain: String?) throws(ToolError) {
        if let domain, domain.contains("@") { throw .oneLayer(domain) }
    }
}
