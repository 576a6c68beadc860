import KeyedArchive
import Testing

@testable import OwnedDocuments

/// What a document changes, and what comes back.
struct PlanTests {
    private var desk = Desk()

    @Test mutating func `What is wanted is set, and what there was comes back`() throws {
        desk["Theme"] = "\"light\""
        #expect(try desk.apply("a", #"{"Theme": "dark", "Volume": 3}"#))
        #expect(desk.values == ["Theme": "\"dark\"", "Volume": "3"])
        try desk.unapply("a")
        #expect(desk.values == ["Theme": "\"light\""] && desk.rows.isEmpty)
    }

    @Test mutating func `The second time there is nothing to do`() throws {
        let document = #"{"Theme": "dark", "$remove": ["Old", "Gone*"], "$once": {"Size": 2}}"#
        desk["Gone1"] = "1"
        #expect(try desk.apply("a", document))
        #expect(try !desk.apply("a", document))
    }

    @Test mutating func `What has left the document goes back, unless the user has changed it`()
        throws
    {
        desk["A"] = "1"
        try desk.apply("a", #"{"A": 2, "B": 2, "C": 2}"#)
        desk["B"] = "7"
        let plan = try desk.plan("a", #"{"C": 2}"#)
        #expect(plan.steps.map(\.outcome) == [.restore, .kept] && plan.returned == 1)
        try desk.carryOut(plan)
        #expect(desk.values == ["A": "1", "B": "7", "C": "2"])
        #expect(desk.row("a", "B") == nil)
    }

    @Test mutating func `The user's latest value comes back, and not the first`() throws {
        desk["A"] = "1"
        try desk.apply("a", #"{"A": 2}"#)
        desk["A"] = "5"
        let plan = try desk.plan("a", #"{"A": 2}"#)
        #expect(plan.steps.map(\.replacesOthers) == [true])
        try desk.carryOut(plan)
        try desk.apply("a", #"{"A": 3}"#)
        try desk.unapply("a")
        #expect(desk.values == ["A": "5"])
    }

    @Test mutating func `What was as wanted before stays, unless it is to be removed`() throws {
        desk["A"] = "2"
        try desk.apply("a", #"{"A": 2}"#)
        #expect(try desk.plan("a", "{}").steps.map(\.outcome) == [.found])
        #expect(try desk.plan("a", "{}", removesFound: true).steps.map(\.outcome) == [.restore])
        // When the owner goes on to another value, that of before is the user's.
        try desk.apply("a", #"{"A": 3}"#)
        try desk.unapply("a")
        #expect(desk.values == ["A": "2"])
    }

    @Test mutating func `A date holds in both forms that an archive has of it`() throws {
        let object = #"{"$class":"NSDate","NS.time":662688000.0}"#
        let bare = #"{"$date":662688000.0}"#
        for (first, second) in [(object, bare), (bare, object)] {
            for (stored, wanted) in [(first, second), ("[\(first)]", "[\(second)]")] {
                desk["D"] = stored
                #expect(try desk.apply("a", "{\"D\": \(wanted)}"))
                #expect(desk["D"] == stored)
                #expect(try !desk.apply("a", "{\"D\": \(wanted)}"))
                try desk.unapply("a")
            }
        }
        desk["D"] = object
        try desk.apply("a", #"{"D": {"$date":662688001.0}}"#)
        #expect(desk["D"] == #"{"$class":"NSDate","NS.time":662688001.0}"#)
    }

    @Test mutating func `A value of another owner that is taken over is not said to come back`()
        throws
    {
        try desk.apply("a", #"{"A": 1}"#)
        #expect(try !desk.plan("b", #"{"A": 2}"#, force: true).steps[0].replacesOthers)
        desk["A"] = "7"
        #expect(try desk.plan("b", #"{"A": 2}"#, force: true).steps[0].replacesOthers)
    }

    @Test mutating func `A whole value replaces one with another exact type, which comes back`()
        throws
    {
        desk["A"] = "3"
        desk.typing = IntegerTyping()
        let plan = try desk.plan("a", #"{"A": "three", "B": "b"}"#)
        #expect(plan.faults.isEmpty && plan.steps.map(\.replacesType) == [true, false])
        try desk.carryOut(plan)
        try desk.apply("a", #"{"A": "four"}"#)
        #expect(desk["A"] == "\"four\"")
        try desk.unapply("a")
        #expect(desk.values == ["A": "3"])
    }

    @Test mutating func `A value that was set once is the user's from then on`() throws {
        let document = #"{"$once": {"A": 1}}"#
        try desk.apply("a", document)
        desk["A"] = "2"
        #expect(try !desk.apply("a", document))
        desk["A"] = nil
        #expect(try !desk.apply("a", document) && desk["A"] == nil)
        // Where the user has a value, it is not set at all.
        desk["B"] = "5"
        #expect(try !desk.apply("b", #"{"$once": {"B": 1}}"#))
        #expect(desk["B"] == "5" && desk.row("b", "B") == nil)
    }

    @Test mutating func `Keys without a value stay so, and prefixes spare what the document sets`()
        throws
    {
        for key in ["Window1", "Window2", "Other"] { desk[key] = "1" }
        let document = #"{"$remove": ["Window*", "Missing"], "Window2": 9}"#
        try desk.apply("a", document)
        #expect(desk.values == ["Window2": "9", "Other": "1"])
        desk["Window3"] = "4"
        try desk.apply("a", document)
        #expect(desk["Window3"] == nil)
        try desk.unapply("a")
        #expect(desk.values == ["Window1": "1", "Window2": "1", "Window3": "4", "Other": "1"])
    }

    @Test
    mutating func `Another owner's key is a conflict, and is taken over with what comes back`()
        throws
    {
        desk["A"] = "1"
        try desk.apply("a", #"{"A": 2}"#)
        let plan = try desk.plan("b", #"{"A": 3}"#)
        #expect(plan.conflicts.map(\.owner.name) == ["a"])
        try desk.apply("b", #"{"A": 3}"#, force: true)
        #expect(desk.row("a", "A") == nil && desk["A"] == "3")
        try desk.unapply("a")
        #expect(desk["A"] == "3")
        try desk.unapply("b")
        #expect(desk["A"] == "1")
    }

    @Test
    mutating func `A wish that the user has made true before is noted, so that nothing drifts`()
        throws
    {
        try desk.apply("a", #"{"A": 1, "B": 1, "C": 1}"#)
        desk["A"] = "2"
        desk["B"] = nil
        let document = #"{"A": 2, "$remove": ["B"], "$once": {"C": 1}}"#
        #expect(try desk.apply("a", document))
        #expect(try !desk.apply("a", document))
        for key in ["A", "B", "C"] {
            let place = KeyPlace(domain: Desk.domain, key: key)
            let live = desk.live[place]
            #expect(desk.row("a", key)?.drift(from: live, shown: live) == nil, "\(key)")
        }
        try desk.unapply("a")
        #expect(desk.values == ["A": "2"])
    }

    @Test
    mutating func
        `A value for once that another owner has makes no conflict, because nothing is done`()
        throws
    {
        try desk.apply("a", #"{"$once": {"A": 1}}"#)
        try desk.apply("b", #"{"A": 2}"#, force: true)
        #expect(try desk.plan("a", #"{"$once": {"A": 1}}"#).conflicts.isEmpty)
    }

    @Test
    mutating func `A damaged row counts as missing, and a row of a later version is an error`()
        throws
    {
        try desk.apply("a", #"{"A": 2}"#)
        let row = try #require(desk.row("a", "A"))
        #expect(throws: AppliedRow.Fault.damaged) { try AppliedRow(archive("5").bytes) }
        let later = try #require(
            text(of: row.archive()).split(separator: "\"version\":1", maxSplits: 1).first)
        #expect(!later.isEmpty)
        #expect(throws: AppliedRow.Fault.later) {
            try AppliedRow(
                archive(text(of: row.archive()).replacing("\"version\":1", with: "\"version\":2"))
                    .bytes)
        }
    }

    @Test func `Names of rows say who owns what, and long ones differ`() throws {
        let owner = try #require(Owner("me/desktop"))
        let place = KeyPlace(domain: "org.example.App@host", key: "A key")
        #expect(RowName(owner, place).text == "me/desktop org.example.App@host A key")
        let parts = try #require(RowName.parts(of: RowName(owner, place).text))
        #expect(parts.owner == owner && parts.place == place)
        let long = String(repeating: "ä", count: 512)
        let names = ["1", "2"].map { RowName(owner, KeyPlace(domain: "a.b", key: $0 + long)).text }
        #expect(Set(names).count == 2 && names.allSatisfy { $0.utf8.count == 1024 })
        #expect(RowName.parts(of: names[0]) == nil)
        // A mark belongs to the space before it, as people see it.
        let marked = KeyPlace(domain: "a.b", key: "\u{301}a b")
        #expect(RowName.parts(of: RowName(owner, marked).text)?.place == marked)
        #expect(
            Owner("") == nil && Owner("a b") == nil
                && Owner(String(repeating: "a", count: 65)) == nil)
    }
}
