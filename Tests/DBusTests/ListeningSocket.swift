import Foundation
import Glibc
import SystemCalls
import TestSupport

@testable import DBus

/// A Unix socket that waits for one to come.
final class ListeningSocket: Sendable {
    let path: String
    private let directory: TemporaryDirectory
    private let descriptor: FileDescriptor

    var address: String { "unix:path=\(path)" }

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/socket"
        descriptor = FileDescriptor(
            owning: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0, listen(descriptor.number, 1) == 0 else {
            throw DBusError.systemCall("Listening at \(path)", error: errno)
        }
    }

    /// Waits for the one who comes.
    ///
    /// On a thread of its own, for it may take one of the few on which tasks run to come.
    func accept() async throws -> FileDescriptor {
        let number = await withCheckedContinuation { continuation in
            Thread.detachNewThread { [descriptor] in
                continuation.resume(returning: Glibc.accept(descriptor.number, nil, nil))
            }
        }
        guard number >= 0 else { throw DBusError.systemCall("accept", error: errno) }
        return FileDescriptor(owning: number)
    }
}

extension Connection {
    /// Serves a socket on a loop that runs on another thread; its first call finds the interfaces.
    static func open(
        serving socket: FileDescriptor, on loop: EventLoop, _ interfaces: [Interface] = [],
        at path: ObjectPath = "/", among instances: FlatpakInstances = .current
    ) async throws -> Connection {
        try await withCheckedThrowingContinuation { continuation in
            loop.perform {
                let opened = Result {
                    let connection = try Connection(serving: socket, on: loop)
                    connection.assumeIsolated { connection in
                        connection.identifyCallers(by: ProcessExaminer(among: instances))
                        connection.export(interfaces, at: path)
                    }
                    return connection
                }
                continuation.resume(with: opened)
            }
        }
    }
}
