import Foundation
import Glibc
import Synchronization
import TestSupport

/// A socket of PostgreSQL's that passes everything on to another one, until it cuts a connection.
final class CuttingProxy: Sendable {
    /// The directory of the socket.
    let directory: TemporaryDirectory
    private let target: String
    private let listener: Int32
    private let state = Mutex(State())

    /// Which way bytes go.
    enum Direction {
        case toServer, toClient
    }

    private struct State {
        /// How many bytes are passed on before the cut; nil without a cut.
        var rest: (direction: Direction, bytes: Int)?
        var hasCut = false
        var passed: [Direction: Int] = [:]
    }

    init(to server: PostgresServer) throws {
        directory = try TemporaryDirectory()
        target = server.socketDirectory + "/.s.PGSQL.5432"
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.listener = listener
        let path = directory.path + "/.s.PGSQL.5432"
        guard Self.withAddress(path, { bind(listener, $0, $1) }) == 0, listen(listener, 8) == 0
        else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        let target = target
        Thread.detachNewThread { [weak self] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                self?.connect(client, to: target)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// Cuts after some more bytes in a direction.
    func cut(_ direction: Direction, after bytes: Int) {
        state.withLock { state in
            state.rest = (direction, bytes)
            state.hasCut = false
        }
    }

    /// Whether it has cut since ``cut(_:after:)``; from now on it does not.
    func stopCutting() -> Bool {
        state.withLock { state in
            state.rest = nil
            return state.hasCut
        }
    }

    /// How many bytes have been passed on.
    func passed(_ direction: Direction) -> Int {
        state.withLock { $0.passed[direction] ?? 0 }
    }

    private func connect(_ client: Int32, to target: String) {
        let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        _ = Self.withAddress(target) { Glibc.connect(server, $0, $1) }
        // The last of both threads closes both descriptors.
        let open = Pair(client, server)
        Thread.detachNewThread { self.pass(.toServer, from: client, to: server, open) }
        Thread.detachNewThread { self.pass(.toClient, from: server, to: client, open) }
    }

    private final class Pair: Sendable {
        let first: Int32
        let second: Int32

        init(_ first: Int32, _ second: Int32) {
            (self.first, self.second) = (first, second)
        }

        func end() {
            for end in [first, second] { shutdown(end, Int32(SHUT_RDWR)) }
        }

        deinit {
            for end in [first, second] { close(end) }
        }
    }

    private func pass(_ direction: Direction, from source: Int32, to target: Int32, _ pair: Pair) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        defer { pair.end() }
        while case let count = read(source, &buffer, buffer.count), count > 0 {
            let (allowed, isCut) = take(count, direction)
            var written = 0
            while written < allowed {
                let now = buffer[written..<allowed].withUnsafeBytes {
                    send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if now <= 0 { return }
                written += now
            }
            if isCut { return }
        }
    }

    private func take(_ count: Int, _ direction: Direction) -> (allowed: Int, isCut: Bool) {
        state.withLock { state in
            state.passed[direction, default: 0] += count
            guard let rest = state.rest, rest.direction == direction else { return (count, false) }
            if count < rest.bytes {
                state.rest?.bytes -= count
                return (count, false)
            }
            state.rest = nil
            state.hasCut = true
            return (rest.bytes, true)
        }
    }

    private static func withAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
