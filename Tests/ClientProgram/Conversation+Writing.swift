import DefaultsClient

/// Commands that write, and that wait for what was written.
extension Conversation {
    /// The answer to a command; nil if it is another's.
    func writing(_ command: String, _ words: [String]) async throws -> String? {
        switch command {
        case "set": defaults[.number(words[0])] = Int(words[1]) ?? 0
        case "set-all":
            for word in words { defaults[.number(word)] = 1 }
        case "set-in":
            let layer = DefaultsLayer(rawValue: words[2])
            try defaults.set(Int(words[1]) ?? 0, for: .number(words[0]), in: layer)
        case "set-many":
            for number in 1...(Int(words[1]) ?? 1) { defaults[.number(words[0])] = number }
        case "set-length":
            defaults[.text(words[0])] = String(repeating: "a", count: Int(words[1]) ?? 0)
        case "set-lengths":
            for number in 0..<(Int(words[0]) ?? 0) {
                let length = (Int(words[1]) ?? 0) + number
                defaults[.text("Long\(number)")] = String(repeating: "b", count: length)
                try await defaults.flush(within: .seconds(3600))
            }
        case "reset": defaults.reset(.number(words[0]))
        case "register":
            defaults.register { $0[.number(words[0])] = Int(words[1]) ?? 0 }
        case "apply": defaults.apply { Self.fill(&$0, words) }
        case "commit": _ = try await defaults.transaction { Self.fill(&$0, words) }
        case "commit-pairs":
            for number in 1...(Int(words[2]) ?? 1) {
                _ = try await defaults.transaction {
                    $0[.number(words[0])] = number
                    $0[.number(words[1])] = number
                }
            }
        case "increment":
            for _ in 0..<(Int(words[1]) ?? 0) {
                try await defaults.update(.number(words[0])) { $0 += 1 }
            }
        case "flush": try await defaults.flush(within: .seconds(Int(words.first ?? "") ?? 3600))
        case "synchronize": try await defaults.synchronize()
        default: return nil
        }
        return "done"
    }

    /// Takes words such as `Key=5`.
    private static func fill(_ changes: inout DefaultsEdits, _ words: [String]) {
        for word in words {
            let parts = word.split(separator: "=").map(String.init)
            changes[.number(parts[0])] = Int(parts[1]) ?? 0
        }
    }
}
