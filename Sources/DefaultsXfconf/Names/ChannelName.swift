internal import DefaultsTerms

/// The name of a channel, such as `xfce4-panel`, which is the domain `xfconf.xfce4-panel`.
///
/// A channel's name may have characters that a domain's may not. They become `_` and two
/// hexadecimal digits, and so do the dot and `_` itself.
///
/// ```swift
/// try ChannelName("xfce4-panel").domain  // "xfconf.xfce4-panel"
/// try ChannelName("a.b").domain          // "xfconf.a_2Eb"
/// ChannelName(domain: "xfconf.a_2Eb")    // a.b
/// ```
package struct ChannelName: Hashable, Sendable, CustomStringConvertible {
    /// What the names of all these domains begin with.
    package static let prefix = "xfconf."

    /// The name.
    package let description: String
    /// The name of its domain.
    package let domain: String

    /// Checks a name that a program has sent.
    ///
    /// - Throws: ``XfconfError`` of the kind `InvalidChannel`.
    package init(_ name: String) throws(XfconfError) {
        guard !name.isEmpty else { throw .emptyChannel }
        guard name.utf8.allSatisfy({ Self.isPlain($0) || Self.isEscaped($0) }) else {
            throw .strayCharacter(inChannel: name)
        }
        description = name
        domain = Self.prefix + name.utf8.map(Self.spelling).joined()
        guard DomainRule.allows(domain) else { throw .overlongChannel(name) }
    }

    /// The channel of a domain; nil for a domain that is not one of a channel.
    package init?(domain: String) {
        guard domain.hasPrefix(Self.prefix) else { return nil }
        var rest = domain.utf8.dropFirst(Self.prefix.utf8.count)
        var name: [UInt8] = []
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "_") else {
                name.append(byte)
                continue
            }
            guard let escaped = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else { return nil }
            name.append(escaped)
            rest = rest.dropFirst(2)
        }
        // Only one spelling of each name is a channel.
        guard let channel = try? ChannelName(String(decoding: name, as: UTF8.self)),
            channel.domain == domain
        else { return nil }
        self = channel
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        DomainRule.isElementByte(byte) && byte != UInt8(ascii: "_")
    }

    private static func isEscaped(_ byte: UInt8) -> Bool { "_.,:|[]{}".utf8.contains(byte) }

    private static func spelling(of byte: UInt8) -> String {
        guard isEscaped(byte) else { return String(Unicode.Scalar(byte)) }
        let digits = String(byte, radix: 16, uppercase: true)
        return "_" + (digits.count < 2 ? "0" : "") + digits
    }
}
