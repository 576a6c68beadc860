import DefaultsRoaming
import Foundation
import TestSupport
import TestTiers
import Testing

@testable import RoamingPostgres

@Suite(.startsPrograms, .enabled(if: PostgresServer.isAvailable, missing))
struct InterruptionTests {
    @Test(arguments: [CuttingProxy.Direction.toServer, .toClient])
    func `A connection is cut anywhere in a push, and the batch is made once`(
        _ direction: CuttingProxy.Direction
    ) async throws {
        let server = try await RoamingServer.shared
        let user = try await server.newUser()
        let other = try server.machine(of: user)
        let proxy = try CuttingProxy(to: server.postgres)
        let cut = try server.machine(of: user)
        var (revision, bytes, madeBefore) = (UInt64(0), 0, 0)
        var hasCut = true
        repeat {
            try await other.meet()
            let mark = try #require(
                try await other.push(edit("k", "o\(bytes)"), edit("l", "o\(bytes)")).outcomes.first
            ).mark
            let address = "host=\(proxy.directory.path) user=\(user)"
            let engine = try PostgresEngine(at: ServerAddress(address), on: server.loop.loop)
            let machine = cut.clone(engine)
            try await machine.meet()
            let batch = machine.newBatch([
                edit("k", "c\(bytes)", base: mark), edit("l", "c\(bytes)"),
            ])
            proxy.cut(direction, after: bytes)
            _ = try? await machine.push(batch)
            hasCut = proxy.stopCutting()
            await engine.close()
            machine.lastBatch?.isAnswered = false
            (cut.place, cut.lastBatch) = (machine.place, machine.lastBatch)
            let meeting = try await cut.meet()
            #expect(meeting.state == .continued)
            madeBefore += meeting.revision == revision + 2 ? 1 : 0
            let result = try await cut.push(batch)
            #expect(result.outcomes.map(\.result) == [.stands, .stands])
            #expect(result.losers.map(\.value) == ["o\(bytes)"])
            try await cut.engine.noteKept(result.losers)
            revision += 2
            #expect(try await cut.meet().revision == revision)
            #expect(try await cut.pull().values == ["k": "c\(bytes)", "l": "c\(bytes)"])
            bytes += 41
        } while hasCut
        // The cut was before the commit, and after it where the server still had to answer.
        #expect(madeBefore < bytes / 41)
        #expect(madeBefore > 0 || direction == .toServer)
    }

    @Test func `A connection is cut anywhere in a meeting, and nobody joins anew`() async throws {
        let server = try await RoamingServer.shared
        let user = try await server.newUser()
        let other = try server.machine(of: user)
        let proxy = try CuttingProxy(to: server.postgres)
        let machine = try server.machine(of: user)
        try await other.meet()
        try await machine.meet()
        var bytes = 0
        var hasCut = true
        repeat {
            try await other.push(edit("k", "\(bytes)"))
            let address = "host=\(proxy.directory.path) user=\(user)"
            let engine = try PostgresEngine(at: ServerAddress(address), on: server.loop.loop)
            proxy.cut(.toClient, after: bytes)
            _ = try? await machine.clone(engine).meet()
            hasCut = proxy.stopCutting()
            await engine.close()
            #expect(try await machine.meet().state == .continued)
            bytes += 67
        } while hasCut
        #expect(bytes > 670)
    }

    @Test func `A server that does not answer is given up`() async throws {
        let server = try await RoamingServer.shared
        let user = try await server.newUser()
        let machine = try server.machine(of: user)
        try await machine.meet()
        try await machine.push(edit("k", "1"))
        let lock =
            "BEGIN; SELECT 'locked' FROM roam.account WHERE owner = '\(user)' FOR UPDATE;"
        let psql = try ChildProcess(
            ["psql", "-XAtq", server.postgres.address()], input: .pipe, output: .lines)
        try psql.input?.write(contentsOf: Data((lock + "\n").utf8))
        #expect(psql.lines?.next() == "locked")
        await machine.engine.setLimit(.milliseconds(200))
        let error = await #expect(throws: EngineError.self) {
            try await machine.push(edit("k", "2"))
        }
        await machine.engine.setLimit(.seconds(30))
        #expect(error?.kind == .unreachable)
        // And it was not the server that has given up.
        #expect(error?.description.contains("did not answer") == true)
        try psql.input?.close()
        psql.waitUntilExit()
        #expect(try await machine.meet().state == .continued)
    }

    @Test func `What was acknowledged survives crashes of the server`() async throws {
        let server = try await RoamingServer()
        let user = try await server.newUser()
        let machine = try server.machine(of: user)
        for round in 0..<4 {
            #expect(try await machine.meet().state == .continued)
            try await machine.push(edit("k\(round)", "1"))
            let pushes = Task {
                for number in 0... { try await machine.push(edit("more\(round)", "\(number)")) }
            }
            try server.postgres.stop(.immediate)
            await #expect(throws: EngineError.self) { try await pushes.value }
            machine.lastBatch?.isAnswered = false
            try server.postgres.start()
        }
        try await machine.meet()
        let values = try await machine.pull().values
        for round in 0..<4 { #expect(values["k\(round)"] == "1") }
    }
}

extension PostgresEngine {
    fileprivate func setLimit(_ limit: Duration) { self.limit = limit }
}
