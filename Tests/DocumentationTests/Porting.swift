import DefaultsClient
import Dispatch
import Glibc
import KeyedArchive
import Testing

// The code of the pages about porting and guarantees, so that it compiles, and tests of it.

extension AnyDefaultsKey {
    static let retries = DefaultsKey("Retries", coding: .converting(), default: 3)
    static let wasClosed = DefaultsKey("WasClosed", default: false)
}

private let textOfPlayer = DefaultsKey("Player", default: "")

private let readJSON = DefaultsMigration(to: 2) { edits in
    guard let text = try edits.value(of: textOfPlayer) else { return }
    let player = try KeyedArchiveDecoder().decode(Player.self, from: KeyedArchive(json: text))
    try edits.set(player, for: .player)
}

/// Calls `exit`, which waits for the defaults, when the session ends or the user stops the program.
nonisolated func endCleanly(at number: Int32 = SIGTERM) -> any DispatchSourceSignal {
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
    source.setEventHandler { @Sendable in
        defaults[.wasClosed] = true
        exit(0)
    }
    source.resume()
    return source
}

struct PortingTests {
    @Test func `A value in JSON becomes an object under the same key`() async throws {
        let defaults = Defaults.inMemory()
        defaults[textOfPlayer] = #"{"name":"ada","lives":2}"#
        try await defaults.migrate([readJSON])
        #expect(defaults[.player] == Player(name: "ada", lives: 2))
    }
}
