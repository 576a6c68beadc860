import Foundation
import Glibc

/// A socket that takes connections and says nothing, like a bus that is stopped.
public final class SilentSocket: Sendable {
    /// Where it is.
    public let path: String
    /// Its address, as that of a bus.
    public var address: String { "unix:path=\(path)" }

    private let directory: TemporaryDirectory
    private let descriptor: Int32

    /// Listens in a directory of its own.
    ///
    /// - Parameter room: For how many connections the system has room, and one more.
    /// - Throws: If that is not possible.
    public init(room: Int32 = 8) throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/bus"
        // A program that another test starts must not inherit it: it would go on listening.
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0, listen(descriptor, room) == 0 else {
            throw CocoaError(.fileWriteUnknown)
        }
    }

    deinit { close(descriptor) }

    /// Takes the connections that wait, and ends them.
    public func endWaiting(_ count: Int) {
        for _ in 0..<count { close(accept(descriptor, nil, nil)) }
    }
}
