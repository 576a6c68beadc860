/// The rule for names of domains: elements of `[A-Za-z0-9_-]` joined by `.`, 255 bytes at most.
package enum DomainRule {
    /// The most bytes that the name of a domain may have.
    package static let maximumLength = 255

    /// Why a domain may not have a name.
    package enum Fault: Error, Hashable {
        case empty
        case tooLong(Int)
        /// The element that ends at this byte is empty.
        case emptyElement(Int)
        /// The byte at this place is not allowed.
        case strayByte(Int)
    }

    /// Why an element is empty, in words.
    ///
    /// - Parameters:
    ///   - offset: The byte at which it ends.
    ///   - text: The name, with the suffix of a layer if there is one.
    package static func words(forEmptyElementAt offset: Int, in text: String) -> String {
        guard offset > 0 else { return "a name cannot begin with a dot" }
        let end = Array(text.utf8.dropFirst(offset)).first
        return end == UInt8(ascii: ".")
            ? "it has two dots in a row, the second at byte \(offset)"
            : "a name cannot end with a dot"
    }

    /// Checks a name, which has no suffix.
    package static func check(_ name: Substring.UTF8View) throws(Fault) {
        guard !name.isEmpty else { throw .empty }
        guard name.count <= maximumLength else { throw .tooLong(name.count) }
        var elementIsEmpty = true
        for (offset, byte) in name.enumerated() {
            if byte == UInt8(ascii: ".") {
                guard !elementIsEmpty else { throw .emptyElement(offset) }
                elementIsEmpty = true
            } else {
                guard isElementByte(byte) else { throw .strayByte(offset) }
                elementIsEmpty = false
            }
        }
        guard !elementIsEmpty else { throw .emptyElement(name.count) }
    }

    /// Whether a domain may have this name.
    package static func allows(_ name: String) -> Bool {
        do throws(Fault) {
            try check(name.utf8[...])
            return true
        } catch {
            return false
        }
    }

    /// Whether an element of a name may contain the byte.
    package static func isElementByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default:
            false
        }
    }
}
