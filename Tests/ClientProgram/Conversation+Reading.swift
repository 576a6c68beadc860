import DefaultsClient
import Glibc

/// Commands that read.
extension Conversation {
    /// The answer to a command; nil if it is another's.
    func reading(_ command: String, _ words: [String]) throws -> String? {
        switch command {
        case "get": return "\(defaults[.number(words[0])])"
        case "get-in":
            let layer = DefaultsLayer(rawValue: words[1])
            return try defaults.value(of: .number(words[0]), in: layer).map { "\($0)" } ?? "none"
        case "try-get": return "\(try defaults.value(of: .number(words[0])))"
        case "length": return "\(try defaults.value(of: .text(words[0])).utf8.count)"
        case "layer": return defaults.layer(of: .number(words[0])).map { "\($0)" } ?? "none"
        case "is-locked": return "\(defaults.isLocked(.number(words[0])))"
        case "is-set": return "\(defaults.isSet(.number(words[0])))"
        case "keys": return defaults.keys().joined(separator: " ")
        case "state": return Self.name(of: defaults.state)
        case "get-thousands":
            // If each of these reads waited for the service, they would never come to an end.
            for _ in 1..<2000 { _ = defaults[.number(words[0])] }
            return "\(defaults[.number(words[0])])"
        case "pair":
            return try pair(words[0], words[1], times: Int(words[2]) ?? 0)
        case "own-kilobytes": return "\(Self.ownKilobytes())"
        default: return nil
        }
    }

    static func name(of state: DefaultsState) -> String {
        switch state {
        case .connecting: "connecting"
        case .current: "current"
        case .following: "following"
        case .privateDaemon: "privateDaemon"
        case .unreachable: "unreachable"
        case .inMemory: "inMemory"
        }
    }

    /// Reads two keys that always change together, again and again: those that have differed.
    ///
    /// Each is read by itself, the second last once more, so that only a half of a transaction is told
    /// of, and not one that has come between.
    private func pair(_ one: String, _ other: String, times: Int) throws -> String {
        var halves = 0
        for _ in 0..<times {
            let first = defaults[.number(one)]
            let second = defaults[.number(other)]
            if defaults[.number(one)] == first && first != second { halves += 1 }
        }
        return "\(halves)"
    }

    /// The memory that is this process's own, as the system counts it.
    private static func ownKilobytes() -> Int {
        guard let file = fopen("/proc/self/status", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
            guard text.hasPrefix("RssAnon:") else { continue }
            return text.split { !$0.isNumber }.first.flatMap { Int($0) } ?? 0
        }
        return 0
    }
}
