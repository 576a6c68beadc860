import TestTiers
import Testing

@testable import DBus

/// How long a peer may leave something undone.
struct PeerConductTests {
    private let held: HeldLoop
    private let conduct: Conduct
    private let ends = Log<String>()
    private var loop: EventLoop { held.loop }

    /// Used on the loop's thread only.
    private struct Conduct: @unchecked Sendable {
        let conduct: PeerConduct
    }

    init() async throws {
        let held = try HeldLoop()
        self.held = held
        conduct = await held.run { Conduct(conduct: PeerConduct(.init(), on: held.loop)) }
        await run { [ends] in $0.cutOff = { ends.append("cut off") } }
    }

    private func run(_ body: @escaping @Sendable (PeerConduct) -> Void) async {
        await held.run { [conduct] in body(conduct.conduct) }
    }

    @Test func `Who reads nothing for ten seconds is cut off, and who reads a little is not (1)`()
        async
    {
        await run { $0.noteUnread() }
        for _ in 0..<5 {
            await loop.advance(by: .seconds(9))
            await run {
                $0.noteRead()
                $0.noteUnread()
            }
        }
        #expect(ends.entries.isEmpty)
        await loop.advance(by: .seconds(10) - .nanoseconds(1))
        #expect(ends.entries.isEmpty)
        await loop.advance(by: .nanoseconds(1))
        #expect(ends.entries == ["cut off"])
    }

    @Test func `Who has read is not cut off, however long it then rests`() async {
        await run { $0.noteUnread() }
        await loop.advance(by: .seconds(9))
        await run { $0.noteLittleUnread() }
        await loop.advance(by: .seconds(3600))
        #expect(ends.entries.isEmpty)
        await run { $0.noteUnread() }
        await loop.advance(by: .seconds(9))
        #expect(ends.entries.isEmpty)
    }

    @Test func `A message that does not end in time is cut off, however often a part comes (1)`()
        async
    {
        for _ in 0..<29 {
            await run { $0.noteInput(reads: 1, of: 1) }
            await loop.advance(by: .seconds(1))
        }
        #expect(ends.entries.isEmpty)
        await run { $0.noteInput(reads: 1, of: 1) }
        await loop.advance(by: .seconds(1))
        #expect(ends.entries == ["cut off"])
    }

    @Test func `While nothing is read, the time for the rest of a message does not pass (2)`()
        async
    {
        await run { $0.noteInput(reads: 1, of: nil) }
        await loop.advance(by: .seconds(29))
        await run { $0.noteHold(true) }
        await loop.advance(by: .seconds(3600))
        await run { $0.noteHold(false) }
        await loop.advance(by: .seconds(29))
        await run { $0.finishMessage() }
        await loop.advance(by: .seconds(3600))
        #expect(ends.entries.isEmpty)
    }

    @Test func `The bytes of a message count until it ends, and those of its reader at the end`()
        async
    {
        let changes = Log<Int>()
        await run {
            $0.unfinishedChanged = { changes.append($0) }
            $0.noteInput(reads: 32, of: nil)
            $0.noteInput(reads: 1, of: 10)
            $0.finishMessage()
            $0.finishMessage()
            $0.noteInput(reads: 1, of: 10)
            $0.end()
            $0.noteInput(reads: 1, of: 10)
        }
        #expect(changes.entries == [32 << 12, 10, -(32 << 12) - 10, 10, -10])
    }
}
