internal import DefaultsTerms

/// Who wants what a document says, such as `home-manager` or `me/desktop`.
package struct Owner: Hashable, Sendable {
    /// 1 to 64 bytes of `[A-Za-z0-9._/-]`.
    package let name: String

    /// The longest name, in bytes.
    package static let maximumLength = 64

    /// - Returns: Nil if the name is not one of an owner.
    package init?(_ name: String) {
        guard 1...Self.maximumLength ~= name.utf8.count, name.utf8.allSatisfy(Self.isByte) else {
            return nil
        }
        self.name = name
    }

    private static func isByte(_ byte: UInt8) -> Bool {
        DomainRule.isElementByte(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "/")
    }
}
