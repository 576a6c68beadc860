import ArchiveTestSupport
import Foundation
import KeyedArchive
import TestSupport
import TestTiers
import Testing

@Suite(
    "Archives of real programs, as structs", .startsPrograms,
    .enabled(if: Fixtures.hasShared, "../shared/fixtures is not beside the package"))
struct CodingFixtureTests {

    struct SpectacleShortcut: Codable, Equatable {
        var name: String
        var keyCode: Int
        var modifiers: UInt16
    }

    @Test("are those of Spectacle")
    func spectacle() throws {
        let bytes = try Fixtures.bytes(
            of: "zotfiles__com.divisiblebyzero.Spectacle.plist.MoveToTopHalf")
        var decoder = KeyedArchiveDecoder()
        decoder.setClass(SpectacleShortcut.self, forClassName: "SpectacleShortcut")
        let shortcut = try decoder.decode(SpectacleShortcut.self, from: bytes)
        #expect(shortcut == SpectacleShortcut(name: "MoveToTopHalf", keyCode: 126, modifiers: 6400))
        var encoder = KeyedArchiveEncoder()
        encoder.setClassName("SpectacleShortcut", for: SpectacleShortcut.self)
        #expect(try encoder.encode(shortcut).isSame(as: KeyedArchive(validating: bytes)))
    }

    struct Shortcut: Decodable {
        var nameKey: String
        var enabled: Bool
        var global: Bool
        var keyComboFlags: Int32
        var sizeColumns: UInt8
    }

    @Test("are those of Divvy")
    func divvy() throws {
        let bytes = try Fixtures.bytes(of: "Dotfiles__com.mizage.Divvy.plist.shortcuts")
        var decoder = KeyedArchiveDecoder()
        decoder.setClass(Shortcut.self, forClassName: "Shortcut")
        let shortcuts = try decoder.decode([Shortcut].self, from: bytes)
        #expect(shortcuts.count == 13)
        #expect(shortcuts[6].nameKey == "Center" && shortcuts[6].global && shortcuts[6].enabled)
        #expect(shortcuts[6].keyComboFlags == 9_568_256 && shortcuts[6].sizeColumns == 6)
    }

    struct Response: Decodable {
        var url: URL
        var time: Double
        var status: Int
        var headers: [String: String]
        var other: String?
        var version: Int
        var isLast: Bool

        enum CodingKeys: String, CodingKey {
            case url = "__nsurlrequest_proto_prop_obj_0"
            case time = "__nsurlrequest_proto_prop_obj_1"
            case status = "__nsurlrequest_proto_prop_obj_3"
            case headers = "__nsurlrequest_proto_prop_obj_4"
            case other = "__nsurlrequest_proto_prop_obj_5"
            case version = "$0"
            case isLast = "$4"
        }
    }

    @Test("are those of Safari, with numbers behind references and fields without keys")
    func response() throws {
        let bytes = try Fixtures.bytes(
            of: "webarchive__crouton.webarchive.WebSubresources.0.WebResourceResponse")
        var decoder = KeyedArchiveDecoder()
        decoder.setClass(Response.self, forClassName: "NSHTTPURLResponse")
        let response = try decoder.decode(Response.self, from: bytes)
        #expect(response.url.absoluteString == "https://crouton.net/crouton.png")
        #expect(response.status == 200 && response.time == 612508329.848802)
        #expect(response.headers["Content-Length"] == "5182" && response.other == nil)
        #expect(response.version == 8 && !response.isLast)
    }

    struct Process: Decodable {
        struct File: Decodable {
            var path: String
            var fd: Int
            var type: String
        }
        var pid: Int
        var time: Date
        var age: Double
        var files: [File]

        enum CodingKeys: String, CodingKey {
            case pid, time
            case age = "process.age"
            case files = "disk.openfiles[]"
        }
    }

    @Test("are those of Instruments: integers are keys, dictionaries are structs")
    func instruments() throws {
        let bytes = try Fixtures.bytes(of: "go-ios__uint64-key-dictionary.bin")
        let processes = try KeyedArchiveDecoder().decode([UInt64: Process].self, from: bytes)
        let process = try #require(processes[40400])
        #expect(process.pid == 40400 && process.age == 0.010608242)
        #expect(process.time.timeIntervalSinceReferenceDate == 625390557.003659)
        #expect(process.files.map(\.path) == ["/dev/null", "/dev/ttys001", "/dev/ttys001"])
    }

    struct Complex: Decodable {
        enum Element: Decodable, Equatable {
            case null, text(String), number(Int), table([String: String])

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if container.decodeNil() {
                    self = .null
                } else if let text = try? container.decode(String.self) {
                    self = .text(text)
                } else if let number = try? container.decode(Int.self) {
                    self = .number(number)
                } else {
                    self = .table(try container.decode([String: String].self))
                }
            }
        }
        var array: [Element]
        var string: String
        var url: URL
        var uuid: UUID
    }

    @Test("are those of Foundation's own tests")
    func complex() throws {
        let bytes = try Fixtures.bytes(
            of: "swift-corelibs-foundation__NSKeyedUnarchiver-ComplexTest.plist")
        let complex = try KeyedArchiveDecoder().decode(Complex.self, from: bytes)
        #expect(complex.array == [.null, .text("hello"), .number(34545), .table(["key": "val"])])
        #expect(complex.url.absoluteString == "https://www.swift.org/index.xml")
        #expect(complex.uuid.uuidString == "71DC068E-3420-45FF-919E-3A267D55EC22")
        let set = try Fixtures.bytes(of: "swift-corelibs-foundation__NSOrderedSet-Numbers.archive")
        #expect(try !KeyedArchiveDecoder().decode([Int].self, from: set).isEmpty)
    }

    struct Python: Decodable {
        var list: [Int]
        var isOn: Bool
        var data: Data
        var date: Date
        var real: Double
        var text: String

        enum CodingKeys: String, CodingKey {
            case list = "MyArray"
            case isOn = "MyBool"
            case data = "MyData"
            case date = "MyDate"
            case real = "MyFloat"
            case text = "MyString"
        }
    }

    @Test("are those of PyObjC, whose classes are subclasses of the known ones")
    func python() throws {
        let bytes = try Fixtures.bytes(of: "plaso__NSKeyedArchiver.plist")
        let value = try KeyedArchiveDecoder().decode(Python.self, from: bytes)
        #expect(value.list.isEmpty && value.isOn && value.real == 2.7)
        #expect(value.data == Data("DATA\n".utf8) && value.text == "Some string")
        #expect(value.date.timeIntervalSinceReferenceDate == 729_452_449)
    }
}

@Suite("Archives of other archivers, as structs", .startsPrograms) struct CodingOwnFixtureTests {
    final class Account: Decodable {
        var username: String
        var isAdmin: Bool
        var age: Int32
        var total: Int64
        var ratio: Float
        var balance: Double
        var tags: [String]
        var friend: Account?
    }

    @Test("are those of Swift's Foundation")
    func foundation() throws {
        let bytes = try Fixtures.bytes(of: "foundation-account")
        var decoder = KeyedArchiveDecoder()
        decoder.setClass(Account.self, forClassName: "foundation.Account")
        let ada = try decoder.decode(Account.self, from: bytes)
        #expect(ada.username == "ada" && ada.isAdmin && ada.age == 36 && ada.total == .min)
        #expect(ada.ratio == 0.5 && ada.balance == 0.1 && ada.tags == ["a", "b"])
        #expect(ada.friend?.username == "grace" && ada.friend?.friend == nil)
    }

    struct Values: Decodable {
        var accented: String
        var empty: String
        var smallest: Int
        var real: Double
        var on: Bool
        var date: Date
        var data: Data
        var url: URL
        var uuid: UUID
    }

    @Test("are those of Swift's Foundation, with each type of a property list")
    func values() throws {
        let bytes = try Fixtures.bytes(of: "foundation-values")
        let values = try KeyedArchiveDecoder().decode(Values.self, from: bytes)
        #expect(values.accented == "cé😀" && values.empty == "" && values.smallest == .min)
        #expect(values.real == 0.1 && values.on && values.data == Data([1, 2, 255]))
        #expect(values.date.timeIntervalSinceReferenceDate == 60.5)
        #expect(values.url.absoluteString == "file:///etc/motd")
        #expect(values.uuid.uuidString == "00010203-0405-0607-0809-0A0B0C0D0E0F")
    }

    struct Member: Decodable {
        var username: String
        var isActive: Bool
    }

    @Test("are those of GNUstep")
    func gnustep() throws {
        var decoder = KeyedArchiveDecoder()
        decoder.setClass(Member.self, forClassName: "Account")
        let friends = try decoder.decode(
            [Member].self, from: Fixtures.bytes(of: "gnustep-friends"))
        #expect(friends.map(\.username) == ["ada", "grace"] && friends[0].isActive)
    }

    struct Response: Decodable {
        var version: Int
        var url: String
        var status: Int
        var next: String?

        enum CodingKeys: String, CodingKey {
            case status, next
            case version = "$0"
            case url = "$1"
        }
    }

    @Test("have numbers behind references, fields without keys, and integers as keys")
    func strange() throws {
        var decoder = KeyedArchiveDecoder()
        decoder.setClass(Response.self, forClassName: "Response")
        let response = try decoder.decode(
            Response.self, from: Fixtures.bytes(of: "python-response"))
        #expect(response.version == 8 && response.url == "https://example.org/")
        #expect(response.status == 200 && response.next == nil)
        let numbered = try KeyedArchiveDecoder().decode(
            [UInt64: String].self, from: Fixtures.bytes(of: "python-integers-as-keys"))
        #expect(numbered == [40400: "first", 1 << 63: "second"])
        let list = try KeyedArchiveDecoder().decode(
            [String].self, from: Fixtures.bytes(of: "python-subclasses"))
        #expect(list == ["text"])
    }
}

extension Fixtures {
    fileprivate static func bytes(of name: String) throws -> [UInt8] {
        try #require(keyed.first { $0.name == name }).bytes
    }
}
