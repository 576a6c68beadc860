internal import Glibc

/// The domain of a program that does not name one: the same as that of its defaults.
enum ProgramIdentity {
    /// The ID of the Flatpak, or the name of the program's file, with what no domain of the defaults may
    /// have replaced.
    static var domain: String {
        if let id = getenv("FLATPAK_ID").map({ String(cString: $0) }), !id.isEmpty { return id }
        let program = CommandLine.arguments.first?.split(separator: "/").last ?? ""
        let name = program.utf8.prefix(255).map { isAllowed($0) ? $0 : UInt8(ascii: "-") }
        return name.isEmpty ? "program" : String(decoding: name, as: UTF8.self)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
