import DefaultsClient
import DefaultsTerms

/// Suggestions for names that do not exist.
extension RemoteDefaults {
    /// The most names that are compared with the typed one.
    private static var mostNames: Int { 10_000 }

    /// The error for a missing key, with the most similar key or domain.
    ///
    /// - Parameter isEffective: Whether all layers were searched.
    func noPair(
        _ domain: String, _ key: String, amongEffective isEffective: Bool = false
    ) async -> ToolError {
        .noPair(
            domain, key, meant: await nameNear(key, in: domain, amongEffective: isEffective))
    }

    /// The key that is most similar to a missing one, or the domain if that has no keys.
    func nameNear(
        _ key: String, in domain: String, amongEffective isEffective: Bool = false
    ) async -> String? {
        let keys =
            isEffective
            ? try? await effectiveKeys(in: domain) : try? await self.keys(in: domain)
        guard let keys, !keys.isEmpty else { return await domainNear(domain) }
        return Spelling.nearest(to: key, among: keys.prefix(Self.mostNames))
    }

    /// The error for a domain without keys, with the most similar domain.
    func noDomain(_ domain: String) async -> ToolError {
        if let layer = await otherLayer(of: domain) { return .noDomain(domain, onlyIn: layer) }
        return .noDomain(domain, meant: await domainNear(domain))
    }

    /// The strongest layer of a domain that applications read and that is not the user's own.
    ///
    /// - Parameter key: The key that the layer must have; nil if any will do.
    func otherLayer(of domain: String, having key: String? = nil) async -> DefaultsLayer? {
        guard !domain.contains(LayerName.separator) else { return nil }
        for layer in DefaultsLayer.searchList(of: domain) {
            guard let place = layer.domain(of: domain), place != domain,
                key != nil || place.withoutLayer == domain,
                let keys = try? await keys(in: place)
            else { continue }
            if key.map(keys.contains) ?? !keys.isEmpty { return layer }
        }
        return nil
    }

    /// The domain that is most similar to a missing one.
    func domainNear(_ domain: String) async -> String? {
        let domains = (try? await domains()) ?? []
        return Spelling.nearest(to: domain, among: domains.prefix(Self.mostNames))
    }
}

/// The similarity of two spellings.
enum Spelling {
    /// The word that was probably meant by a mistyped one; nil if none is similar enough.
    static func nearest(to word: String, among words: some Sequence<String>) -> String? {
        // Nobody types a longer one, and comparing it would take long.
        guard word.utf8.count <= longest else { return nil }
        let near = words.lazy.compactMap { other in
            slips(from: word, to: other).map { (other, $0) }
        }
        return near.min { $0.1 < $1.1 }?.0
    }

    private static let longest = 2048

    /// How many slips of a person turn a word into another one; nil if it was probably not meant.
    ///
    /// 1. The parts between points are compared one by one: names of domains share most of theirs.
    /// 2. Each part may have as many slips as its length suggests. In a word of one or two letters, only
    ///    the case may differ.
    /// 3. Another digit is not a slip: who types `tab1` does not mean `tab2`.
    private static func slips(from word: String, to other: String) -> Int? {
        guard word != other, word.filter(\.isNumber) == other.filter(\.isNumber) else { return nil }
        let (parts, others) = (Self.parts(of: word), Self.parts(of: other))
        guard parts.count == others.count else {
            // A point was forgotten, or typed twice.
            let count = distance(word.lowercased(), other.lowercased())
            return count == 1 ? count : nil
        }
        var sum = 0
        for (part, other) in zip(parts, others) {
            let count = distance(part, other)
            guard count <= mostSlips(in: min(part.count, other.count)) else { return nil }
            sum += count
        }
        return sum
    }

    private static func parts(of word: String) -> [String] {
        word.lowercased().split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    private static func mostSlips(in length: Int) -> Int {
        switch length {
        case ..<3: 0
        case ..<6: 1
        case ..<12: 2
        default: 3
        }
    }

    /// How many letters must be added, removed, replaced or swapped with the next one.
    ///
    /// The restricted Damerau-Levenshtein distance; the time grows with the product of the lengths.
    static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left), Array(right))
        var before: [Int] = []
        var last = Array(0...right.count)
        for i in left.indices {
            var row = [i + 1]
            for j in right.indices {
                let isSame = left[i] == right[j]
                var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (isSame ? 0 : 1))
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    cost = min(cost, before[j - 1] + 1)
                }
                row.append(cost)
            }
            (before, last) = (last, row)
        }
        return last[right.count]
    }
}

/// The suggestions of ArgumentParser, which makes one for nearly every unknown option.
enum Suggestion {
    private static let question = ". Did you mean '"

    /// A message without its suggestion, unless a person could have meant that.
    static func checked(_ message: String) -> String {
        guard let place = message.firstRange(of: question) else { return message }
        let words = message[..<place.lowerBound].split(separator: "'")
        let meant = message[place.upperBound...].prefix { $0 != "'" }
        let near = words.last.flatMap { Spelling.nearest(to: String($0), among: [String(meant)]) }
        return near == nil ? String(message[..<place.lowerBound]) : message
    }
}
