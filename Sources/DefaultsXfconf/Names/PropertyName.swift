package import DefaultsModel
internal import DefaultsTerms

/// The names of properties, such as `/general/theme`, which are keys as they are.
package enum PropertyName {
    /// Checks a name that a program has sent.
    ///
    /// - Throws: ``XfconfError`` of the kind `InvalidProperty`.
    package static func key(_ name: String) throws(XfconfError) -> Key {
        if let reason = problem(of: name.utf8) {
            throw .invalidProperty(name, because: reason)
        }
        do throws(ModelError) {
            return try Key(name)
        } catch {
            throw .invalidProperty(
                name, because: "it is longer than \(KeyRule.maximumLength) bytes")
        }
    }

    /// Whether programs see a key as a property.
    ///
    /// A file may have names with other characters. Programs get these, but cannot name them.
    package static func isProperty(_ key: Key) -> Bool {
        key.name.utf8.first == UInt8(ascii: "/") && key.length > 1
    }

    private static func problem(of name: String.UTF8View) -> String? {
        guard name.first == UInt8(ascii: "/") else { return "it does not begin with '/'" }
        guard name.count > 1 else { return "'/' is for all properties of a channel" }
        let elements = name.dropFirst().split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        if elements.last?.isEmpty == true { return "it ends with '/'" }
        if elements.contains(where: \.isEmpty) { return "it has '//'" }
        guard elements.allSatisfy({ $0.allSatisfy(isAllowed) }) else {
            return "it has a character that is neither a letter or digit of ASCII nor one of "
                + "- _ . , : | [ ] { } < > /"
        }
        return nil
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        DomainRule.isElementByte(byte) || "{}|,[].:<>".utf8.contains(byte)
    }
}

/// A property with all properties below it, or all properties of a channel.
package enum PropertyBase: Sendable {
    /// All properties of a channel.
    case root
    /// A property, and those whose names continue with `/`.
    case property(Key)

    /// Reads a base: `/` and the empty text mean the root.
    ///
    /// - Throws: ``XfconfError`` of the kind `InvalidProperty`.
    package init(_ name: String) throws(XfconfError) {
        self = name.isEmpty || name == "/" ? .root : .property(try PropertyName.key(name))
    }

    /// Whether a property is the base or below it.
    package func covers(_ key: Key) -> Bool {
        guard PropertyName.isProperty(key) else { return false }
        guard case .property(let base) = self else { return true }
        let (name, own) = (key.name.utf8, base.name.utf8)
        guard name.starts(with: own) else { return false }
        return name.count == own.count
            || name[name.index(name.startIndex, offsetBy: own.count)] == UInt8(ascii: "/")
    }
}
