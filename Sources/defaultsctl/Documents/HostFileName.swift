import DefaultsTerms
import SystemCalls

/// The names of files with the values of one machine: `DOMAIN@MACHINE.json`.
///
/// So the machines of a user can have their files in one directory.
enum HostFileName {
    /// What the file of a domain is called, without its ending.
    static func title(of domain: String) -> String {
        guard domain.hasSuffix(LayerName.host.suffix) else { return domain }
        return domain.dropLast(LayerName.host.suffix.count) + separator + HostName.current
    }

    /// The domain of a file, with the suffix of a layer; nil if it is of another machine.
    ///
    /// `DOMAIN@host` is of each machine that reads it.
    static func domain(of title: String) -> String? {
        let base = title.withoutLayer
        let machine = title.dropFirst(base.count + separator.count)
        if machine.isEmpty || isLayer(machine) { return title }
        guard machine.lowercased() == HostName.current.lowercased() else { return nil }
        return LayerName.host.spelling(of: base)
    }

    /// Whether a file is of another machine.
    static func isOfOther(_ file: String) -> Bool {
        guard let dot = file.lastIndex(of: ".") else { return false }
        return domain(of: String(file[..<dot])) == nil
    }

    private static let separator = "@"

    /// Whether it is the name of a layer, which can be of another machine by its ID.
    private static func isLayer(_ word: some StringProtocol) -> Bool {
        LayerName.allCases.contains { word == $0.rawValue }
            || word.hasPrefix(LayerName.host.rawValue + ":")
    }
}
