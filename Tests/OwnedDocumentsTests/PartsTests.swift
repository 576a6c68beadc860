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
    mutating func `Parts of two owners are no conflict, unless they are the same or the whole`()
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

    @Test(arguments: [#""text""#, "5", #"{"a":1}"#])
    func `A value of another kind is refused`(_ value: String) throws {
        var desk = Desk()
        desk["List"] = value
        #expect(throws: DocumentPlan.Fault.self) {
            try desk.apply("a", #"{"List": {"$ensure": ["a"]}}"#)
        }
        #expect(desk["List"] == value)
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
