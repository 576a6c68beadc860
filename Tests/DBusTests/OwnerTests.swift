import TestSupport
import TestTiers
import Testing

@testable import DBus

/// The names on the bus, and waiting until one leaves it.
@Suite(.startsPrograms) struct OwnerTests {
    let session: PrivateSession

    init() throws { session = try PrivateSession() }

    @Test func `A name has an owner from its request to its release`() async throws {
        let connection = try await session.connect()
        #expect(try await !connection.hasOwner(of: "a.Name"))
        _ = try await connection.requestName("a.Name")
        #expect(try await connection.hasOwner(of: "a.Name"))
        try await connection.releaseName("a.Name")
        #expect(try await !connection.hasOwner(of: "a.Name"))
    }

    @Test func `A change of owner names the old one and the new one`() async throws {
        let (first, second) = (try await session.connect(), try await session.connectApart())
        _ = try await first.requestName("a.Name", .allowReplacement)
        var changes = try await second.ownerChanges(of: "a.Name", limit: 1).makeAsyncIterator()
        _ = try await second.requestName("a.Name", .replaceExisting)
        guard case .signal(let change)? = await changes.next() else {
            Issue.record("The signal is missing.")
            return
        }
        #expect(change.arguments == ["a.Name", first.name, second.name].map(Value.string))
    }

    @Test func `A client that leaves is waited for, and one that has left is not`() async throws {
        let (watching, leaving) = (try await session.connect(), try await session.connectApart())
        let name = try #require(leaving.uniqueName)
        async let hasLeft = watching.waitForDeparture(of: name, within: .seconds(3600))
        // The bus answers in order: it has the question by the time that it answers this.
        _ = try await watching.hasOwner(of: name)
        await leaving.close()
        #expect(try await hasLeft)
        #expect(try await watching.waitForDeparture(of: name, within: .zero))
    }

    @Test func `A client that stays is waited for until the limit`() async throws {
        let (watching, staying) = (try await session.connect(), try await session.connectApart())
        let name = try #require(staying.uniqueName)
        #expect(try await !watching.waitForDeparture(of: name, within: .milliseconds(1)))
    }

    @Test func `The end of the bus ends the wait`() async throws {
        let (watching, staying) = (try await session.connect(), try await session.connectApart())
        let name = try #require(staying.uniqueName)
        async let hasLeft = watching.waitForDeparture(of: name, within: .seconds(3600))
        _ = try await watching.hasOwner(of: name)
        session.bus.stop()
        // Either it was asked for before the end, or not any more.
        #expect((try? await hasLeft) != true)
    }
}
