import Testing

@testable import OwnedDocuments

/// Lists and dictionaries whose parts are wished for.
struct PartsTests {
    private var desk = Desk()

    @Test mutating func `Elements are added and taken out, and the others keep their order`() throws
    {
        desk["List"] = #"["z","m","a"]"#
        try desk.apply("a", #"{"List": {"$ensure": ["a", "n"], "$without": ["m", "q"]}}"#)
        #expect(desk["List"] == #"["z","a","n"]"#)
        #expect(try !desk.apply("a", #"{"List": {"$ensure": ["a", "n"], "$without": ["m", "q"]}}"#))
        try desk.unapply("a")
        #expect(desk["List"] == #"["z","m","a"]"#)
    }

    @Test mutating func `What the user has changed meanwhile stays`() throws {
        desk["List"] = #"["a"]"#
        try desk.apply("a", #"{"List": {"$ensure": ["b"]}}"#)
        desk["List"] = #"["c","a","b"]"#
        #expect(try !desk.apply("a", #"{"List": {"$ensure": ["b"]}}"#))
        try desk.apply("a", #"{"List": {"$ensure": ["d"]}}"#)
        #expect(desk["List"] == #"["c","a","d"]"#)
        try desk.unapply("a")
        #expect(desk["List"] == #"["c","a"]"#)
    }

    @Test(arguments: [["a", "b"], ["b", "a"]])
    func `A list begins with the schema's default, and is absent again, in either order`(
        _ order: [String]
    ) throws {
        var desk = Desk()
        let place = KeyPlace(domain: Desk.domain, key: "Favourites")
        desk.defaults[place] = archive(#"["files","web"]"#)
        try desk.apply("a", #"{"Favourites": {"$ensure": ["mail"]}}"#)
        #expect(desk["Favourites"] == #"["files","web","mail"]"#)
        try desk.apply("b", #"{"Favourites": {"$ensure": ["game"], "$without": ["web"]}}"#)
        #expect(desk["Favourites"] == #"["files","mail","game"]"#)
        try desk.unapply(order[0])
        #expect(desk["Favourites"] != nil)
        try desk.unapply(order[1])
        #expect(desk["Favourites"] == nil && desk.rows.isEmpty)
    }

    @Test func `An element that two owners want stays until both have gone`() throws {
        var desk = Desk()
        desk["List"] = #"["m","z"]"#
        let document = #"{"List": {"$ensure": ["a"], "$without": ["z"]}}"#
        try desk.apply("a", document)
        try desk.apply("b", document)
        #expect(try !desk.apply("b", document))
        try desk.apply("a", #"{"List": {"$ensure": ["c"]}}"#)
        #expect(desk["List"] == #"["m","a","c"]"#)
        try desk.unapply("a")
        #expect(desk["List"] == #"["m","a"]"#)
        try desk.unapply("b")
        #expect(desk["List"] == #"["m","z"]"#)
    }

    @Test mutating func `Entries and fields are merged, with what is inside them`() throws {
        desk["Options"] = #"{"$class":"Options","audio":{"volume":1},"theme":"x"}"#
        try desk.apply(
            "a",
            #"{"Options": {"$merge": {"audio": {"$merge": {"volume": 5, "mute": true}}, "new": 1}}}"#
        )
        #expect(
            desk["Options"]
                == #"{"$class":"Options","audio":{"mute":true,"volume":5},"new":1,"theme":"x"}"#)
        try desk.apply("a", #"{"Options": {"$merge": {"new": 2}}}"#)
        #expect(
            desk["Options"] == #"{"$class":"Options","audio":{"volume":1},"new":2,"theme":"x"}"#)
        try desk.unapply("a")
        #expect(desk["Options"] == #"{"$class":"Options","audio":{"volume":1},"theme":"x"}"#)
    }

    @Test mutating func `An object is made where there is none`() throws {
        try desk.apply("a", #"{"New": {"$merge": {"$class": "Options", "volume": 1}}}"#)
        #expect(desk["New"] == #"{"$class":"Options","volume":1}"#)
        try desk.unapply("a")
        #expect(desk["New"] == nil)
    }

    @Test
    mutating func
        `Parts of two owners conflict only if they are the same part, or one is the whole`()
        throws
    {
        desk["D"] = #"{"x":1}"#
        try desk.apply("a", #"{"D": {"$merge": {"y": 1}}}"#)
        #expect(try desk.plan("b", #"{"D": {"$merge": {"z": 1}}}"#).conflicts.isEmpty)
        #expect(try desk.plan("b", #"{"D": {"$merge": {"y": 2}}}"#).conflicts.count == 1)
        #expect(try desk.plan("b", #"{"D": {"x": 2}}"#).conflicts.count == 1)
        #expect(
            try desk.plan("b", #"{"D": {"$merge": {"y": {"$merge": {"q": 1}}}}}"#).conflicts.count
                == 1)
    }

    @Test(arguments: [
        (#"["u","x"]"#, #"{"$without": ["x"]}"#, #"{"$ensure": ["x"]}"#, #"["u","x"]"#),
        (#"["u"]"#, #"{"$ensure": ["x"]}"#, #"{"$without": ["x"]}"#, #"["u"]"#),
        (#"{"x":3}"#, #"{"$merge": {"x": 2}}"#, #"{"$merge": {"x": 3}}"#, #"{"x":3}"#),
        (#"{"x":1}"#, #"{"x": 5, "q": 1}"#, #"{"$merge": {"x": 1}}"#, #"{"x":1}"#),
        (#"["u"]"#, #"["q"]"#, #"{"$ensure": ["u"]}"#, #"["u"]"#),
        (
            #"{"n":{"x":1}}"#, #"{"$merge": {"n": {"$merge": {"x": 2}}}}"#,
            #"{"$merge": {"n": {"$merge": {"x": 1}}}}"#, #"{"n":{"x":1}}"#
        ),
    ])
    func `What another owner has made is taken over also if the value before is as wished`(
        _ before: String, _ first: String, _ second: String, _ after: String
    ) throws {
        var desk = Desk()
        desk["K"] = before
        try desk.apply("a", "{\"K\": \(first)}")
        #expect(desk["K"] != before)
        #expect(try desk.apply("b", "{\"K\": \(second)}", force: true))
        #expect(desk["K"] == after && desk.row("a", "K") == nil)
        for owner in ["a", "b"] { try desk.unapply(owner) }
        #expect(desk["K"] == before && desk.rows.isEmpty)
    }

    @Test func `An entry that others had is named if it is replaced, once`() throws {
        var desk = Desk()
        desk["D"] = #"{"x":1,"y":2}"#
        let plan = try desk.plan("a", #"{"D": {"$merge": {"x": 5, "z": 6}}}"#)
        #expect(plan.steps.map(\.replacedParts) == [["x"]])
        try desk.carryOut(plan)
        #expect(
            try desk.plan("a", #"{"D": {"$merge": {"x": 5, "z": 7}}}"#).steps.map(\.replacedParts)
                == [[]])
        let conflict = try desk.plan("b", #"{"D": {"$merge": {"x": 5}}}"#).conflicts.first
        #expect(conflict?.part == "x")
    }

    @Test func `An element that two owners want has not changed when one has gone`() throws {
        var desk = Desk()
        try desk.apply("a", #"{"L": {"$ensure": ["x"]}}"#)
        try desk.apply("b", #"{"L": {"$ensure": ["x"]}}"#)
        #expect(try desk.plan("b", "{}").steps.map(\.outcome) == [.own])
    }

    @Test(arguments: [#""text""#, "5", #"{"a":1}"#])
    func `A value of another kind is refused`(_ value: String) throws {
        var desk = Desk()
        desk["List"] = value
        let plan = try desk.plan("a", #"{"List": {"$ensure": ["a"]}, "Other": {"$ensure": ["a"]}}"#)
        #expect(plan.faults.map(\.place.key) == ["List"])
        #expect(try !desk.carryOut(plan) && desk.values == ["List": value])
    }

    @Test(arguments: [#""$remove": ["K"]"#, #""$remove": ["K*"]"#, #""K": ["x"]"#])
    func `Parts begin with what the user had, whatever the owner has made of it before`(
        _ first: String
    ) throws {
        var desk = Desk()
        desk["K"] = #"["u"]"#
        try desk.apply("a", "{\(first)}")
        try desk.apply("a", #"{"K": {"$ensure": ["b"]}}"#)
        #expect(desk["K"] == #"["u","b"]"#)
        try desk.unapply("a")
        #expect(desk["K"] == #"["u"]"#)
        // The same of another owner, whose key is taken over.
        try desk.apply("a", "{\(first)}")
        try desk.apply("b", #"{"K": {"$ensure": ["c"]}}"#, force: true)
        #expect(desk["K"] == #"["u","c"]"#)
        try desk.unapply("b")
        try desk.unapply("a")
        #expect(desk["K"] == #"["u"]"#)
    }

    @Test
    mutating func
        `Parts that are taken over are the other's no more, and the user's value comes back`()
        throws
    {
        desk["D"] = #"{"x":1}"#
        try desk.apply("a", #"{"D": {"$merge": {"x": 2, "y": 2}}}"#)
        let plan = try desk.plan("b", #"{"D": {"$merge": {"x": 3}}}"#, force: true)
        #expect(plan.steps.map(\.formerOwner?.name) == ["a"])
        try desk.carryOut(plan)
        #expect(desk["D"] == #"{"x":3,"y":2}"#)
        #expect(try !desk.apply("b", #"{"D": {"$merge": {"x": 3}}}"#))
        try desk.unapply("a")
        #expect(desk["D"] == #"{"x":3}"#)
        try desk.unapply("b")
        #expect(desk["D"] == #"{"x":1}"#)
    }

    @Test mutating func `A value whose last part is the owner's no more is as before the owner`()
        throws
    {
        let place = KeyPlace(domain: Desk.domain, key: "L")
        desk.defaults[place] = archive(#"["a","b"]"#)
        try desk.apply("a", #"{"L": {"$ensure": ["x"]}}"#)
        try desk.apply("a", #"{"L": {"$ensure": ["a"]}}"#)
        #expect(desk["L"] == nil && desk.rows.isEmpty)
    }

    @Test
    mutating func `What the user has added to a list comes back without the owner's elements`()
        throws
    {
        desk["L"] = #"["a"]"#
        try desk.apply("a", #"{"L": {"$ensure": ["b"]}}"#)
        desk["L"] = #"["a","b","c"]"#
        try desk.apply("a", #"{"L": ["x"]}"#)
        try desk.unapply("a")
        #expect(desk["L"] == #"["a","c"]"#)
    }

    @Test mutating func `Who wants an element and who does not are in conflict`() throws {
        desk["L"] = #"["a"]"#
        try desk.apply("a", #"{"L": {"$ensure": ["z"]}}"#)
        #expect(try desk.plan("b", #"{"L": {"$without": ["z"]}}"#).conflicts.count == 1)
        #expect(throws: DocumentError.self) {
            try desk.plan("b", #"{"L": {"$ensure": ["y"], "$without": ["y"]}}"#)
        }
    }

    @Test mutating func `From parts to the whole value and back`() throws {
        desk["List"] = #"["a"]"#
        try desk.apply("a", #"{"List": {"$ensure": ["b"]}}"#)
        try desk.apply("a", #"{"List": ["x"]}"#)
        #expect(desk["List"] == #"["x"]"#)
        try desk.apply("a", #"{"List": {"$ensure": ["c"]}}"#)
        #expect(desk["List"] == #"["a","c"]"#)
        try desk.unapply("a")
        #expect(desk["List"] == #"["a"]"#)
    }
}
