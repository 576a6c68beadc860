import DBus
import DefaultsProtocol
import Testing

@testable import ServiceHarness

/// Calls that are repeated with a token, as a program does that has lost the reply.
@Suite struct TokenTests {
    private let app = "org.example.App"

    @Test func `A repeated token gets the earlier reply, even after a kill and an end`()
        async throws
    {
        try await withCaller { caller, service in
            let once = TransactionOptions<PlainNames>(token: "once")
            #expect(try await caller.apply(app, ["a": 1], once) == 2)
            #expect(try await caller.apply(app, ["a": 2]) == 3)
            try await service.inEachProcess { (caller) async throws in
                #expect(
                    try await caller.apply(app, ["a": 1], expecting: ["a": 0], once) == 2)
            }
            let next = try await service.caller()
            #expect(try await next.get(app, "a") == (2, 3))
            // Of another domain it is another token.
            #expect(try await next.apply("org.example.Other", ["a": 1], once) == 4)
        }
    }

    @Test func `A token without a change is remembered over a kill; one of a Conflict is not`()
        async throws
    {
        try await withCaller { caller, service in
            try await caller.apply(app, ["a": 1])
            #expect(try await caller.apply(app, ["a": 1], .init(token: "same")) == 2)
            try await caller.apply(app, ["a": 2])
            try await service.restart(.dropped)
            let next = try await service.caller()
            #expect(try await next.apply(app, ["a": 1], .init(token: "same")) == 2)
            let refused = try await refusal {
                try await next.apply(
                    app, ["a": 3], expecting: ["a": 2], .init(token: "refused"))
            }
            #expect(refused?.code == .conflict)
            #expect(try await next.apply(app, ["a": 3], .init(token: "refused")) == 4)
        }
    }

    @Test func `A token without a change delays nobody who waits for the disk`() async throws {
        try await withCaller { caller, service in
            try await caller.apply(app, [:], .init(token: "alone"))
            #expect(try await caller.synchronize() == 1)
            try await caller.apply(app, [:], .init(token: "another"))
            #expect(try await caller.apply(app, [:], .init(isDurable: true)) == 1)
            try await caller.apply(app, [:], .init(token: "last"))
            try await service.restart()
            let next = try await service.caller()
            #expect(try await next.apply(app, ["a": 1], .init(token: "last")) == 1)
        }
    }

    @Test func `A token without a change goes to disk by itself`() async throws {
        try await withCaller { caller, service in
            try await caller.apply(app, [:], .init(token: "alone"))
            await service.advance(by: .milliseconds(249))
            #expect(try await caller.statistic(.flushes) == 0)
            await service.advance(by: .milliseconds(1))
            #expect(try await caller.statistic(.flushes) == 1)
            try await service.restart(.dropped) { try service.files.loseRuntimeDirectory() }
            let next = try await service.caller()
            #expect(try await next.apply(app, ["a": 1], .init(token: "alone")) == 1)
        }
    }

    @Test func `A durable transaction without a change waits for the flush that has its token`()
        async throws
    {
        try await withCaller { caller, service in
            // It comes while another flush is under way, to which it would be too late.
            let hold = await service.disk.hang()
            try await caller.set(app, "a", 1)
            let first = try await caller.send(Contract.Synchronize.self, ())
            let durable = try await service.caller().send(
                Contract.ApplyValues.self,
                .init(domain: app, set: [], options: .init(isDurable: true, token: "same")))
            #expect(!first.isAnswered && !durable.isAnswered)
            await hold.release()
            #expect(try durable.get() == 2)
            #expect(try await caller.statistic(.flushes) == 2)
        }
    }
}
