import DefaultsFiles
import DefaultsModel
import DefaultsXfconf
import Testing

/// The files of Xfconf's channels as layers.
struct ChannelLayerTests {
    private static let ada = UserNames(name: "ada", groups: ["staff"])

    /// A file of a channel as one of a layer.
    private func layer(_ layer: Layer, of text: String) throws -> LayerDocument {
        try LayerDocument(
            Array(text.utf8),
            of: LayerFile(
                path: "c.xml", domain: Domain(name: "xfconf.c", layer: layer),
                form: .channel(Self.ada)))
    }

    private func keys(_ document: LayerDocument) -> [String] { document.values.map(\.key.name) }

    private func channel(_ properties: String, _ attributes: String = "") -> String {
        #"<channel name="c" version="1.0" \#(attributes)>\#(properties)</channel>"#
    }

    private static let properties = """
        <property name="free" type="int" value="1"/>
        <property name="locked" type="int" value="2" locked="ada"/>
        <property name="others" type="int" value="3" locked="bob"/>
        <property name="empty" type="empty" locked="@staff"/>
        """

    @Test func `What is locked is in the managed layer, and everything else in the other`() throws {
        let text = channel(Self.properties)
        let (system, managed) = (try layer(.system, of: text), try layer(.managed, of: text))
        #expect(keys(system) == ["/free", "/others"] && system.locks.isEmpty)
        #expect(keys(managed) == ["/locked"])
        #expect(managed.locks.map(\.pattern) == ["/empty"])
    }

    @Test func `A locked channel is in the managed layer as a whole`() throws {
        let text = channel(Self.properties, #"unlocked="bob""#)
        #expect(try keys(layer(.system, of: text)).isEmpty)
        let managed = try layer(.managed, of: text)
        #expect(keys(managed) == ["/free", "/locked", "/others"])
        #expect(managed.locks.map(\.pattern) == ["*", "/empty"])
    }

    @Test func `A fault has its place`() throws {
        let problem = try #require(throws: LayerProblem.self) {
            try layer(.system, of: "<channel name=\"c\" version=\"1.0\">\n <property/></channel>")
        }
        #expect(problem.code.name == "syntax" && problem.line == 2 && problem.column == 2)
        let long = String(repeating: "a", count: 1025)
        #expect(throws: LayerProblem.self) {
            try layer(.system, of: channel(#"<property name="\#(long)" type="empty"/>"#))
        }
    }

    @Test func `A file without a lock has nothing for the managed layer`() throws {
        let file = { (layer: Layer) in
            LayerFile(
                path: "c.xml", domain: try Domain(name: "xfconf.c", layer: layer),
                form: .channel(Self.ada))
        }
        let (free, locked) = (Array(channel("").utf8), Array(channel(Self.properties).utf8))
        #expect(try !LayerDocument.mayHaveEntries(free, of: file(.managed)))
        #expect(try LayerDocument.mayHaveEntries(locked, of: file(.managed)))
        #expect(try LayerDocument.mayHaveEntries(free, of: file(.system)))
    }

    @Test func `Channels are the weakest files, and the first directory is the strongest`() throws {
        let folder = try Folder()
        let below = "xfce4/xfconf/xfce-perchannel-xml"
        try folder.write(
            to: "a/\(below)/c.xml", "b/\(below)/c.xml", "b/\(below)/x.y.xml", "b/\(below)/.c.xml",
            "b/\(below)/c.xml~", "b/\(below)/a b.xml", "vendor/xfconf.c.json",
            "managed/xfconf.c.json")
        var places = LayerPlaces(
            managed: "\(folder.path)/managed", recommended: "\(folder.path)/recommended",
            vendor: "\(folder.path)/vendor")
        #expect(LayerListing(of: places).files.count == 2)
        places.channels = ChannelPlaces(
            below: ["\(folder.path)/a", "relative", "\(folder.path)/b"], for: Self.ada)
        let listing = LayerListing(of: places)
        let names = { (domain: String, layer: Layer) in
            try (listing.files[Domain(name: domain, layer: layer)] ?? []).map {
                String($0.path.dropFirst(folder.path.count + 1))
            }
        }
        let channels = ["b/\(below)/c.xml", "a/\(below)/c.xml"]
        #expect(try names("xfconf.c", .system) == channels + ["vendor/xfconf.c.json"])
        #expect(try names("xfconf.c", .managed) == channels + ["managed/xfconf.c.json"])
        #expect(try names("xfconf.x_2Ey", .system) == ["b/\(below)/x.y.xml"])
        #expect(listing.files.count == 4)
        #expect(places.directories.count == 5)
    }
}
