import DefaultsClient
@preconcurrency import Glibc

// The code of the page about Swift.

/// A type that other packages use.
public struct Theme: Codable, Hashable, Sendable {
    /// What it is called.
    public var name: String
    /// Whether its background is dark.
    public var isDark = false
}

extension AnyDefaultsKey {
    static let theme = DefaultsKey<Theme?>("Theme")
}

private func makeQuieter() async {
    do {
        let volume = try defaults.value(of: .volume)
        try defaults.set(volume / 2, for: .volume)
        // A program that ends does not know yet what the service has answered.
        try await defaults.flush()
    } catch {
        let sentence = (error as? DefaultsError)?.message ?? "\(error)"
        fputs("quieter: \(sentence)\n", stderr)
        exit(1)
    }
}
