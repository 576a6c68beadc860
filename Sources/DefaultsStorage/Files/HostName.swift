internal import Glibc

/// The name that people know this machine by.
enum HostName {
    static var current: String {
        var system = utsname()
        guard uname(&system) == 0 else { return "localhost" }
        // The field is a C string in an array of fixed size; the string copies.
        return withUnsafeBytes(of: &system.nodename) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
