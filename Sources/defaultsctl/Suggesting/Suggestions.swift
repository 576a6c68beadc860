import DefaultsClient

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
        let keys =
            isEffective
            ? try? await effectiveKeys(in: domain) : try? await self.keys(in: domain)
        if let keys, !keys.isEmpty {
            return .noPair(
                domain, key, meant: Spelling.nearest(to: key, among: keys.prefix(Self.mostNames)))
        }
        return .noPair(domain, key, meant: await domainNear(domain))
    }

    /// The error for a domain without keys, with the most similar domain.
    func noDomain(_ domain: String) async -> ToolError {
        .noDomain(domain, meant: await domainNear(domain))
    }

    /// The domain that is most similar to a missing one.
    func domainNear(_ domain: String) async -> String? {
        let domains = (try? await domains()) ?? []
        return Spelling.nearest(to: domain, among: domains.prefix(Self.mostNames))
    }
}

/// The similarity of two spellings.
enum Spelling {
    /// The word that was probably meant by a mistyped one; nil if none is similar.
    static func nearest(to word: String, among words: some Sequence<String>) -> String? {
        let most = max(1, word.count / 3)
        let near = words.lazy.map { ($0, distance(word.lowercased(), $0.lowercased())) }
            .filter { $0.1 <= most }
        return near.min { $0.1 < $1.1 }?.0
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
