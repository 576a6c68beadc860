internal import DefaultsTerms

/// The key of a row: `OWNER DOMAIN KEY`, so that the names alone say who owns what.
package struct RowName: Hashable, Sendable {
    package let text: String

    /// The name of a stored row.
    package init(stored text: String) {
        self.text = text
    }

    package static func == (one: RowName, other: RowName) -> Bool {
        one.text.hasSameBytes(as: other.text)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: text)
    }

    package init(_ owner: Owner, _ place: KeyPlace) {
        let whole = "\(owner.name) \(place.domain) \(place.key)"
        guard whole.utf8.count >= KeyRule.maximumLength else {
            text = whole
            return
        }
        // The end of a name that is too long is a checksum, and the row itself says what is meant.
        var start = ""
        for character in whole.unicodeScalars {
            guard start.utf8.count + character.utf8.count <= KeyRule.maximumLength - 17 else {
                break
            }
            start.unicodeScalars.append(character)
        }
        let digits = String(CounterPageLayout.fnv1a(whole.utf8), radix: 16)
        let fill = KeyRule.maximumLength - start.utf8.count - digits.utf8.count
        text = start + String(repeating: "~", count: fill) + digits
    }

    /// The parts of a name; nil if it is too long to have them all, or is not one of a row.
    package static func parts(of text: String) -> (owner: Owner, place: KeyPlace)? {
        guard text.utf8.count < KeyRule.maximumLength else { return nil }
        // By bytes: a key may begin with a mark that belongs to the space as people see it.
        let parts = text.utf8.split(
            separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false
        ).map { String(Substring($0)) }
        guard parts.count == 3, let owner = Owner(parts[0]) else { return nil }
        return (owner, KeyPlace(domain: parts[1], key: parts[2]))
    }
}
