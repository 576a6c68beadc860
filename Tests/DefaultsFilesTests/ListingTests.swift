import DefaultsFiles
import DefaultsModel
import Foundation
import Testing

struct ListingTests {
    private func listing(of folder: Folder) -> LayerListing {
        LayerListing(
            of: LayerPlaces(
                managed: "\(folder.path)/managed", recommended: "\(folder.path)/recommended",
                vendor: "\(folder.path)/vendor"))
    }

    /// The names of a domain's files below the folder.
    private func names(
        _ listing: LayerListing, _ folder: Folder, _ domain: String, _ layer: Layer
    ) throws -> [String] {
        try (listing.files[Domain(name: domain, layer: layer)] ?? []).map {
            String($0.path.dropFirst(folder.path.count + 1))
        }
    }

    @Test
    func `The weakest files come first: vendor, main files by name, drop-ins by name`() throws {
        let folder = try Folder()
        try folder.write(
            to: "recommended/org.example.A.json", "vendor/org.example.A.plist",
            "vendor/org.example.A.json", "vendor/org.example.A.d/9.json",
            "vendor/org.example.A.d/10.plist", "vendor/org.example.A.d/Z.json",
            "vendor/org.example.A.d/a.json", "managed/org.example.A.json")
        let listing = listing(of: folder)
        #expect(
            try names(listing, folder, "org.example.A", .system) == [
                "vendor/org.example.A.json", "vendor/org.example.A.plist",
                "vendor/org.example.A.d/10.plist", "vendor/org.example.A.d/9.json",
                "vendor/org.example.A.d/Z.json", "vendor/org.example.A.d/a.json",
                "recommended/org.example.A.json",
            ])
        #expect(
            try names(listing, folder, "org.example.A", .managed) == ["managed/org.example.A.json"])
        #expect(listing.files.count == 2 && listing.problems.isEmpty)
    }

    @Test func `A domain may have only drop-ins, and a name that looks like a file's`() throws {
        let folder = try Folder()
        try folder.write(
            to: "managed/NSGlobalDomain.d/kiosk.json", "managed/org.example.json.json",
            "managed/org.example.d.plist")
        let listing = listing(of: folder)
        #expect(
            try names(listing, folder, "NSGlobalDomain", .managed)
                == ["managed/NSGlobalDomain.d/kiosk.json"])
        #expect(try names(listing, folder, "org.example.json", .managed).count == 1)
        #expect(try names(listing, folder, "org.example.d", .managed).count == 1)
        #expect(listing.files.count == 3 && listing.problems.isEmpty)
    }

    @Test(
        "Files with other names belong to no domain",
        arguments: [
            "README", "a.json.bak", "a.json~", "a.json.rpmsave", "a.plist.dpkg-old", ".a.json",
            ".json", ".d/b.json", ".a.d/b.json", "sub/b.json", "a.conf", "json", "a.d/README",
            "a.d/.b.json", "a.d/b.json.dpkg-new", "a.d/c.d/b.json", "a.JSON",
        ])
    func otherNames(name: String) throws {
        let folder = try Folder()
        try folder.write(to: "managed/\(name)")
        let listing = listing(of: folder)
        #expect(listing.files.isEmpty && listing.problems.isEmpty)
    }

    @Test(
        "A name that may be meant to be read gets a remark",
        arguments: [
            "a.JSON", "a.jsn", "org.q", "org.y/b.json", "a.D/b.json", "json", "a.d/b.JSON",
            "a.d/c.d/b.json", "a.jsonc", "dpkg-old",
        ])
    func strayName(name: String) throws {
        let folder = try Folder()
        try folder.write(to: "good.json", "a.d/good.json", name)
        let listing = LayerListing(of: folder.path, as: .managed)
        #expect(listing.files.values.joined().count == 2 && listing.problems.isEmpty)
        #expect(listing.remarks.map(\.code) == [.badName])
        #expect(listing.remarks.first.map { "\(folder.path)/\(name)".hasPrefix($0.path) } == true)
        #expect(listing.remarks.first?.reason.hasPrefix("It is ignored") == true)
    }

    @Test(
        "Backup copies, hidden files and READMEs get no remark",
        arguments: [
            ".a.json", ".a.json.swp", "a.json~", "a.json.bak", "a.json.orig", "a.json.dpkg-old",
            "a.json.dpkg-dist", "a.json.rpmsave", "a.json.rpmnew", "a.json.rpmorig", "a.swp",
            "a.json.tmp", "README", "README.md", "a.d/README.txt", "a.d/b.json.dpkg-new",
        ])
    func leftover(name: String) throws {
        let folder = try Folder()
        try folder.write(to: "good.json", "a.d/good.json", name)
        let listing = LayerListing(of: folder.path, as: .managed)
        #expect(listing.files.values.joined().count == 2 && listing.problems.isEmpty)
        #expect(listing.remarks.isEmpty)
    }

    @Test func `A file with the name of a directory of drop-ins is reported`() throws {
        let folder = try Folder()
        try folder.write(to: "org.x.d")
        let listing = LayerListing(of: folder.path, as: .managed)
        #expect(listing.files.isEmpty && listing.remarks.isEmpty)
        let problem = try #require(listing.problems.first)
        #expect(listing.problems.count == 1 && problem.code == .badName)
        #expect(problem.reason.contains("must be that of a directory"))
    }

    @Test(
        "A name that is not a domain is reported, and affects no other file",
        arguments: ["my app.json", "a..b.plist", "größe.json", "a b.d/c.json", "a@managed.json"])
    func noDomain(name: String) throws {
        let folder = try Folder()
        try folder.write(to: "vendor/\(name)", "vendor/good.json")
        let listing = listing(of: folder)
        #expect(listing.files.count == 1)
        let problem = try #require(listing.problems.first)
        #expect(listing.problems.count == 1 && problem.code == .badName)
        let path = "\(folder.path)/vendor/" + (name.split(separator: "/").first ?? "")
        #expect(problem.path == path)
        #expect(problem.description.hasPrefix("\(path): It is ignored"))
        #expect(problem.reason.contains("Invalid domain"))
    }

    @Test func `Names that are not UTF-8 are reported`() throws {
        let folder = try Folder()
        try folder.make(directory: "vendor/a.d")
        for name in ["b\u{FF}.json", "a.d/b\u{FF}.json", "b\u{FF}.bak"] {
            let bytes = "\(folder.path)/vendor/\(name)".unicodeScalars.map { scalar in
                CChar(truncatingIfNeeded: scalar.value)
            }
            let descriptor = open(bytes + [0], O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
            try #require(descriptor >= 0)
            close(descriptor)
        }
        let listing = listing(of: folder)
        #expect(listing.files.isEmpty)
        #expect(listing.problems.map(\.code) == [.badName, .badName])
    }

    @Test func `Links to places, drop-ins and files are followed`() throws {
        let folder = try Folder()
        try folder.write(to: "else/org.example.A.json", "else/some/1.json")
        try folder.link("managed", to: "else")
        try folder.link("else/org.example.B.d", to: "some")
        try folder.link("else/org.example.C.json", to: "org.example.A.json")
        let listing = listing(of: folder)
        #expect(
            listing.files.keys.map(\.name).sorted() == ["A", "B", "C"].map { "org.example.\($0)" })
    }

    @Test
    func `Missing places are empty, and a place that is not a directory is reported`() throws {
        let folder = try Folder()
        try folder.write(to: "vendor")
        try folder.link("managed", to: "nowhere")
        let listing = listing(of: folder)
        #expect(listing.files.isEmpty)
        #expect(
            listing.problems.map(\.path) == ["\(folder.path)/vendor", "\(folder.path)/managed"])
        #expect(listing.problems.map(\.code) == [.unreadable, .unreadable])
    }

    @Test func `A directory that cannot be read still has its earlier files`() throws {
        let folder = try Folder()
        try folder.write(to: "vendor", "recommended/org.example.A.json")
        let path = folder.path
        let before = [
            "\(path)/vendor/org.example.A.json", "\(path)/vendor/org.example.A.d/1.json",
            "\(path)/vendor/org.example.A.d/0.plist", "\(path)/managed/org.example.A.json",
            "\(path)/recommended/org.example.B.json",
        ]
        let listing = LayerListing(
            of: LayerPlaces(
                managed: "\(path)/managed", recommended: "\(path)/recommended",
                vendor: "\(path)/vendor"), remembering: before)
        let domain = try Domain(name: "org.example.A", layer: .system)
        #expect(
            listing.files.mapValues { $0.map(\.path) } == [
                domain: [
                    "\(path)/vendor/org.example.A.json", "\(path)/vendor/org.example.A.d/0.plist",
                    "\(path)/vendor/org.example.A.d/1.json",
                    "\(path)/recommended/org.example.A.json",
                ]
            ])
    }

    @Test func `A loop of links in place of drop-ins is reported`() throws {
        let folder = try Folder()
        try folder.make(directory: "vendor")
        try folder.link("vendor/a.d", to: "a.d")
        #expect(listing(of: folder).problems.map(\.code) == [.unreadable])
    }

    @Test func `A single directory is listed as any of the places`() throws {
        let folder = try Folder()
        try folder.write(to: "org.example.A.json")
        for place in LayerPlace.allCases {
            let listing = LayerListing(of: folder.path, as: place)
            #expect(listing.files.keys.map(\.layer) == [place.layer])
        }
    }
}

/// What is suspicious in a place, and which file a name is.
struct NamingTests {
    @Test func `Two main files, and drop-ins without files, get remarks`() throws {
        let folder = try Folder()
        try folder.write(
            to: "a.json", "a.plist", "b.plist", "b.d/c.json", "c.d/README", "d.d/1.json",
            "d.d/2.plist")
        let listing = LayerListing(of: folder.path, as: .vendor)
        #expect(listing.remarks.map(\.code) == [.twoMainFiles, .noDropIns])
        #expect(listing.remarks.map(\.path) == ["\(folder.path)/a.plist", "\(folder.path)/c.d"])
        #expect(listing.problems.isEmpty)
    }

    @Test(
        "A file's domain comes from its name, or from its directory of drop-ins",
        arguments: [
            ("org.example.A.json", "org.example.A"), ("some/b.plist", "b"), ("/b.json", "b"),
            ("org.example.A.d/any name.json", "org.example.A"), ("my app.d/b.json", "b"),
            ("a.d//b.json", "a"), ("a/b.json.json", "b.json"),
        ])
    func naming(path: String, name: String) throws {
        let file = try LayerFile(path: path, in: .recommended)
        #expect(file.path == path)
        #expect(file.domain == (try Domain(name: name, layer: .system)))
    }

    @Test(
        "A file that no place would read has no domain",
        arguments: [
            "", "/", "a", "a.bak", "a.json~", ".a.json", "a.d", "a.d/README", "a.d/.b.json",
            "my app.json", ".a.d/b c.json",
        ])
    func ignoring(path: String) throws {
        let problem = try #require(throws: LayerProblem.self) {
            try LayerFile(path: path, in: .managed)
        }
        #expect(problem.code == .badName && problem.path == path)
    }
}
