internal import Glibc

/// The domain of a program that does not name one.
package enum ProgramIdentity {
    /// The ID of the Flatpak, or the name of the program's file, with what no domain may have replaced.
    package static var domain: String {
        if let id = getenv("FLATPAK_ID").map({ String(cString: $0) }), DomainRule.allows(id) {
            return id
        }
        let program = CommandLine.arguments.first?.split(separator: "/").last ?? ""
        let bytes = program.utf8.prefix(DomainRule.maximumLength).map { byte in
            DomainRule.isElementByte(byte) ? byte : UInt8(ascii: "-")
        }
        return bytes.isEmpty ? "program" : String(decoding: bytes, as: UTF8.self)
    }
}
