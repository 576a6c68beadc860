import DBus
import DefaultsProtocol
import DefaultsTerms
import Foundation
import KeyedArchive
import TestSupport
import Testing

@testable import DefaultsService
@testable import ServiceHarness

/// Who has changed what, and what undo does and refuses.
@Suite struct HistoryTests {
    private let app = "org.example.App"

    // MARK: Authors and kinds

    @Test func `An application in a sandbox is named, and may not see the history`() async throws {
        try await withCaller { caller, service in
            let application = try await service.caller(.application(app))
            try await application.set(app, "Key", 1)
            let action = try #require(try await caller.actions().first)
            #expect(action.application == app && action.kind == "change" && action.isByHand)
            await #expect(throws: ContractError.self) {
                try await application.call(Contract.ListActions.self, HistoryFilter())
            }
        }
    }

    @Test func `A document and another machine are named, but not by an application in a sandbox`()
        async throws
    {
        try await withCaller { caller, service in
            let document = ChangeSponsor(kind: .document, owner: "home")
            let roaming = ChangeSponsor(kind: .roam, machine: "laptop")
            try await caller.apply(app, ["Key": 1], .init(sponsor: document))
            try await caller.apply(app, ["Key": 2], .init(sponsor: roaming))
            try await service.caller(.application(app))
                .apply(app, ["Key": 3], .init(sponsor: roaming))
            let actions = try await caller.actions()
            #expect(actions.map(\.kind) == ["change", "roam", "document"])
            #expect(actions.map(\.machine) == ["", "laptop", ""])
            #expect(actions.map(\.owner) == ["", "", "home"])
            #expect(actions.map(\.isByHand) == [true, false, true])
        }
    }

    @Test func `A restoration is one action, and is taken back as a whole`() async throws {
        try await withCaller { caller, service in
            for domain in ["org.example.A", "org.example.B", "org.example.C"] {
                try await caller.set(domain, "Key", 1)
            }
            let backup = try await caller.call(Contract.BackUp.self, ())
            for domain in ["org.example.A", "org.example.B"] {
                try await caller.set(domain, "Key", 2)
            }
            try await caller.removeDomain("org.example.C")
            _ = try await caller.call(Contract.RestoreBackup.self, backup)
            let action = try #require(try await caller.actions().first)
            #expect(action.kind == "restore" && action.keys == 3 && !action.isByHand)
            try await caller.undo(action)
            #expect(try await caller.get("org.example.A", "Key").value == 2)
            #expect(try await caller.domains() == ["org.example.A", "org.example.B"])
        }
    }

    @Test func `A change by a desktop's interface is an action like any other`() async throws {
        let door = try await DoorOnBus.start(
            XfconfDoor.self, at: "/org/xfce/Xfconf", "org.xfce.Xfconf")
        let domain = "xfconf.c"
        for number in [1, 2] as [Int32] {
            try await door.call("SetProperty", "c", "/n", .variant(.int32(number)))
        }
        let actions = try await door.caller.actions(domain)
        #expect(actions.map(\.kind) == ["change"])
        try await door.caller.undo(actions[0])
        let refusal = try await door.refusal("GetProperty", "c", "/n")
        #expect(refusal == "org.xfce.Xfconf.Error.PropertyNotFound")
        try await door.service.end()
    }

    @Test func `What the service itself keeps is not in the history`() async throws {
        try await withCaller { caller, service in
            for domain in ["org.defaultsd.Grants", "org.defaultsd.Quotas", "org.defaultsd.History"]
            {
                try await caller.set(domain, "org.example.Other", ["Keys": 7])
            }
            try await service.writeLayerFile("managed/\(app).json", #"{"Forced": 7}"#)
            await service.advance(by: .seconds(5))
            #expect(try await caller.actions().isEmpty)
        }
    }

    // MARK: Taking back

    @Test func `Nothing is taken back over a newer change, unless that is forced`() async throws {
        try await withCaller { caller, service in
            try await caller.apply(app, ["A": 1, "B": 1])
            await service.advance(by: .seconds(3))
            try await caller.set(app, "B", 2)
            let first = try await caller.actions()[1]
            let refusal = await #expect(throws: ContractError.self) { try await caller.undo(first) }
            #expect(refusal?.code == .conflict && refusal?.message.contains("'B'") == true)
            #expect(try await caller.values(app) == ["A": 1, "B": 2])
            // The newer change was taken back, so the key has what the action has left.
            try await caller.undo(caller.actions()[0])
            #expect(try await caller.values(app) == ["A": 1, "B": 1])
            try await caller.undo(first)
            #expect(try await caller.values(app) == [:])
        }
    }

    @Test func `A part is taken back, and the rest later`() async throws {
        try await withCaller { caller, service in
            try await caller.apply(app, ["A": 1, "B": 1])
            await service.advance(by: .seconds(3))
            try await caller.set(app, "B", 2)
            let first = try await caller.actions()[1]
            let (_, changes) = try await caller.undo(first) { $0.isPartial = true }
            #expect(changes.map(\.key) == ["A", "B"])
            #expect(changes.map(\.standing) == ["holds", "changed"])
            #expect(try await caller.values(app) == ["B": 2])
            #expect(try await caller.actions()[2].isUndone == false)
            let (_, rest) = try await caller.undo(first) { $0.isForced = true }
            #expect(rest.map(\.key) == ["B"])
            #expect(try await caller.values(app) == [:])
            #expect(try await caller.actions().last?.isUndone == true)
        }
    }

    @Test func `An action that has gone on since it was seen is not taken back`() async throws {
        try await withCaller { caller, service in
            try await caller.set(app, "Key", 1)
            let seen = try await caller.actions()[0]
            await service.advance(by: .seconds(1))
            try await caller.set(app, "Key", 2)
            let refusal = await #expect(throws: ContractError.self) { try await caller.undo(seen) }
            #expect(refusal?.code == .conflict)
            let all = try await caller.actions()
            #expect(all.count == 1 && all[0].last > seen.last)
            try await caller.undo(all[0])
            #expect(try await caller.values(app) == [:])
        }
    }

    @Test func `A locked key is refused by name, and quotas are not in the way`() async throws {
        try await withCaller { caller, service in
            try await caller.apply(app, ["A": 1, "B": 1])
            await service.advance(by: .seconds(3))
            try await caller.apply(app, removing: ["A", "B"])
            try await caller.set("org.defaultsd.Quotas", .init(app), ["DomainKeys": 1])
            let action = try await caller.actions()[0]
            try await service.writeLayerFile("managed/\(app).json", #"{"B": 9}"#)
            await service.advance(by: .seconds(1))
            let refusal = await #expect(throws: ContractError.self) {
                try await caller.undo(action)
            }
            #expect(refusal?.code == .locked && refusal?.message.contains("'B'") == true)
            try await service.writeLayerFile("managed/\(app).json", "{}")
            await service.advance(by: .seconds(1))
            try await caller.undo(action)
            #expect(try await caller.values(app) == ["A": 1, "B": 1])
        }
    }

    @Test func `Several actions are taken back in one change, and done again in one`() async throws
    {
        try await withCaller { caller, service in
            for value in 1...4 as ClosedRange<Int64> {
                try await caller.set(app, "Key", .int64(value))
                await service.advance(by: .seconds(3))
                try await caller.set("org.example.\(value)", "Key", .int64(value))
                await service.advance(by: .seconds(3))
            }
            let actions = try await caller.actions()
            let chosen = actions.prefix(6).map { ($0.number, $0.last) }
            let before = try await caller.generation()
            let (generation, _) = try await caller.call(
                Contract.Undo.self, TakingBackArguments(actions: chosen))
            #expect(generation == before + 1)
            #expect(try await caller.values(app) == ["Key": 1])
            #expect(try await caller.domains() == [app, "org.example.1"].sorted())
            let undo = try await caller.actions()[0]
            #expect(undo.references.count == 6)
            try await caller.redo(undo)
            #expect(try await caller.values(app) == ["Key": 4])
            #expect(try await caller.domains().count == 5)
        }
    }

    @Test func `A rename is taken back, and a domain that was removed comes back`() async throws {
        try await withCaller { caller, service in
            try await caller.apply(app, ["Old": 1, "Other": 2])
            await service.advance(by: .seconds(3))
            try await caller.rename(app, "Old", "New")
            try await caller.undo(caller.actions()[0])
            #expect(try await caller.values(app) == ["Old": 1, "Other": 2])
            await service.advance(by: .seconds(3))
            try await caller.removeDomain(app)
            try await caller.undo(caller.actions()[0])
            #expect(try await caller.values(app) == ["Old": 1, "Other": 2])
        }
    }

    @Test func `The same value and a repeated token are not actions`() async throws {
        try await withCaller { caller, _ in
            try await caller.apply(app, ["Key": 1], .init(token: "once"))
            try await caller.apply(app, ["Key": 1], .init(token: "once"))
            try await caller.set(app, "Key", 1)
            #expect(try await caller.actions().count == 1)
        }
    }

    // MARK: One action

    @Test func `A click that makes several calls is one action, and is taken back at once`()
        async throws
    {
        try await withCaller { caller, service in
            try await caller.set(app, "Theme", 1)
            await service.advance(by: .milliseconds(300))
            try await caller.set("org.example.Other", "Theme", 2)
            // Between two flushes, too.
            await service.advance(by: .milliseconds(400))
            try await caller.set(app, "Icons", 3)
            await service.advance(by: .milliseconds(600))
            try await caller.set(app, "Font", 4)
            let actions = try await caller.actions()
            #expect(actions.map(\.keys) == [1, 3])
            try await caller.undo(try #require(actions.last))
            #expect(try await caller.domains() == [app])
            #expect(try await caller.get(app, "Font").value == 4)
        }
    }

    @Test func `What a dialog answers to an undo is not by hand, and is one action`() async throws {
        try await withCaller { caller, service in
            let dialog = try await service.caller()
            try await dialog.apply(app, ["Font": 1, "Size": 10])
            await service.advance(by: .seconds(3))
            try await dialog.apply(app, ["Font": 2])
            await service.advance(by: .seconds(3))
            try await caller.undo(try #require(try await caller.actions().first))
            await service.advance(by: .milliseconds(30))
            try await dialog.set(app, "Size", 11)
            try await dialog.set("org.example.Other", "Size", 11)
            try await dialog.set(app, "Weight", 4)
            await service.advance(by: .seconds(1))
            try await dialog.set(app, "Size", 12)
            let actions = try await caller.actions()
            #expect(
                actions.map(\.kind)
                    == ["change", "answer", "change", "answer", "undo", "change", "change"])
            #expect(actions.prefix(5).map(\.isByHand) == [true, false, true, false, false])
        }
    }

    @Test func `A redo brings back what the undo had replaced, and not what its action had made`()
        async throws
    {
        try await withCaller { caller, service in
            try await caller.set(app, "Key", 1)
            let editor = try await service.caller()
            try await editor.set(app, "Key", 2)
            let edited = try #require(try await caller.actions().first)
            try await service.caller().set(app, "Key", 5)
            let other = try #require(try await caller.actions().first)
            var forcing = TakingBackArguments(actions: [(edited.number, edited.last)])
            forcing.isForced = true
            _ = try await caller.call(Contract.Undo.self, forcing)
            #expect(try await caller.get(app, "Key").value == 1)
            let undo = try #require(try await caller.actions().first)
            _ = try await caller.call(
                Contract.Redo.self, TakingBackArguments(actions: [(undo.number, undo.last)]))
            #expect(try await caller.get(app, "Key").value == 5)
            await #expect(throws: ContractError.self) { try await caller.undo(edited) }
            try await caller.undo(other)
            #expect(try await caller.get(app, "Key").value == 2)
        }
    }

    // MARK: What is kept

    @Test func `What is excluded has no history, and loses the one it has`() async throws {
        try await withCaller { caller, service in
            try await caller.set("org.example.Vault", "Key", 1)
            await service.advance(by: .seconds(3))
            try await caller.apply(app, ["Token": 1, "Key": 1])
            #expect(try await caller.actions().count == 2)
            try await caller.set(
                "org.defaultsd.History", "Excluded", ["org.example.Vault", "org.example.App Token"])
            await service.advance(by: .seconds(3))
            try await caller.set("org.example.Vault", "Key", 2)
            await service.advance(by: .seconds(3))
            try await caller.apply(app, ["Token": 2, "Key": 2])
            await service.advance(by: .seconds(3))
            let actions = try await caller.actions()
            #expect(actions.count == 2)
            for action in actions {
                let (_, changes) = try await caller.call(Contract.GetAction.self, action.number)
                #expect(changes.map(\.key) == ["Key"] && changes.map(\.domain) == [app])
            }
        }
    }

    @Test func `A history that is switched off is erased, and so is what is deleted`() async throws
    {
        try await withCaller { caller, service in
            var numbers = SeededGenerator()
            let needle = "needle \(numbers.next())"
            try await caller.set(app, "Key", .string(needle))
            try await caller.set(app, "Key", 2)
            try await caller.set(app, "Secret", .string(needle))
            try await caller.synchronize()
            #expect(try service.files.haveBytes(needle))
            try await caller.set("org.defaultsd.History", "Days", 0)
            try await caller.synchronize()
            try await caller.remove(app, "Secret")
            try await caller.synchronize()
            await service.settle()
            #expect(try !service.files.haveBytes(needle))
            #expect(try await caller.actions().isEmpty)
            try await caller.set("org.defaultsd.History", "Days", 7)
            try await caller.set(app, "Key", 3)
            #expect(try await caller.actions().count == 1)
        }
    }

    // MARK: Bad input

    @Test func `Filters and options that make no sense are refused in words`() async throws {
        try await withCaller { caller, _ in
            let history = Contract.historyInterface
            let bad: [(MemberName, [Value])] = [
                ("ListActions", [["domain": "not a domain"]]), ("ListActions", [["key": "Key"]]),
                ("ListActions", [["limit": "many"]]), ("ListActions", [["colour": 1]]),
                ("GetAction", [.uint64(7)]), ("GetAction", [.uint64(.max)]),
                ("GetAt", [.string(app), .strings([]), .uint64(.max), .int64(0)]),
                ("Undo", [.array(of: "(tt)", []), ["key": "Key"]]),
                ("Undo", [.array(of: "(tt)", [.structure([.uint64(1), .uint64(1)])]), [:]]),
            ]
            for (method, arguments) in bad {
                await #expect(throws: ContractError.self, "\(method) \(arguments)") {
                    try await caller.ask(method, arguments, of: history)
                }
            }
            // All, none, and times at both ends.
            for times in [Int64.min, -1, 0, .max] {
                var filter = HistoryFilter()
                (filter.since, filter.until, filter.limit) = (times, times, 0)
                _ = try await caller.call(Contract.ListActions.self, filter)
            }
        }
    }
}

extension TestCaller {
    /// The actions of the history, the newest first.
    fileprivate func actions(_ domain: String = "") async throws -> [HistoryActionForm] {
        var filter = HistoryFilter()
        filter.domain = domain
        return try await call(Contract.ListActions.self, filter).actions
    }

    @discardableResult
    fileprivate func undo(
        _ action: HistoryActionForm, _ set: (inout TakingBackArguments) -> Void = { _ in }
    ) async throws -> TakingBackReply {
        var arguments = TakingBackArguments(actions: [(action.number, action.last)])
        set(&arguments)
        return try await call(Contract.Undo.self, arguments)
    }

    @discardableResult
    fileprivate func redo(_ action: HistoryActionForm) async throws -> TakingBackReply {
        try await call(
            Contract.Redo.self, TakingBackArguments(actions: [(action.number, action.last)]))
    }

    fileprivate func generation() async throws -> UInt64 {
        try await call(Contract.GetProperties.self, ()).uint64(Contract.currentGeneration)
    }
}

extension TestPlace {
    /// Whether any file beside the database has a text.
    fileprivate func haveBytes(_ text: String) throws -> Bool {
        let names = try FileManager.default.contentsOfDirectory(atPath: database)
        return names.contains { name in
            guard let data = FileManager.default.contents(atPath: "\(database)/\(name)") else {
                return false
            }
            return data.range(of: Data(text.utf8)) != nil
        }
    }
}
