import Glibc

/// What a program is called, where it does not say so.
enum ProgramIdentity {
    /// The ID of the Flatpak, or the name of the program's file, with what no domain may have replaced.
    static var domain: String {
        if let id = getenv("FLATPAK_ID").map({ String(cString: $0) }), !id.isEmpty { return id }
        let program = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? ""
        let allowed = program.utf8.map { byte -> UInt8 in
            let isAllowed =
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            return isAllowed ? byte : UInt8(ascii: "-")
        }
        return allowed.isEmpty ? "program" : String(decoding: allowed.prefix(255), as: UTF8.self)
    }
}
