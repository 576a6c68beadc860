import DefaultsClient
import DefaultsFoundation
import Foundation
import KeyedArchive
import Testing

// The code of the page about collections, so that it compiles, and tests of what the page says.

enum Instrument: String, Codable, CaseIterable {
    case drums, guitar, piano
}

enum Clip: Codable, Hashable {
    case silence(seconds: Double)
    case sample(Sample)

    struct Sample: DefaultInitializable, Hashable {
        var file = ""
        var gain = 1.0  // since version 2
    }
}

struct Toolbars: OptionSet {
    let rawValue: Int
    static let main = Toolbars(rawValue: 1)
    static let effects = Toolbars(rawValue: 2)
}

extension AnyDefaultsKey {
    static let band = DefaultsKey("Band", default: [Instrument.piano])
    static let loudnesses = DefaultsKey<[Instrument: Double]>("Loudnesses", default: [:])
    static let muted = DefaultsKey<Set<Instrument>>("Muted", default: [])
    static let difficulties = DefaultsKey<[Difficulty]>(
        "Difficulties", coding: .array(of: .rawRepresentable()), default: [])
    static let clips = DefaultsKey<[Clip]>("Clips", default: [])
    static let toolbars = DefaultsKey("Toolbars", default: Toolbars.main)
    static let palette = DefaultsKey<[Color]>(
        "Palette", coding: .array(of: .hex()), default: [])
    static let colors = DefaultsKey<[String: Color]>(
        "Colors", coding: .dictionary(of: .hex()), default: [:])
    static let plugIns = DefaultsKey("PlugIns", default: [:] as [String: DefaultsValue])
    static let orchestra = DefaultsKey("Orchestra", coding: .known(), default: [Instrument.piano])
}

extension ValueCoding {
    static func known<Element: RawRepresentable<String> & Sendable>() -> ValueCoding
    where Value == [Element] {
        let texts = ValueCoding<[String]>.codable()
        return ValueCoding(
            encode: { try texts.encode($0.map(\.rawValue)) },
            decode: { try texts.decode($0).compactMap { Element(rawValue: $0) } })
    }
}

struct CollectionTests {
    let defaults = Defaults.inMemory()

    /// What other programs see.
    private func json(of key: String) throws -> String {
        let raw = DefaultsKey<KeyedArchive?>(
            key, coding: ValueCoding(encode: { $0 }, decode: { $0 }), default: nil)
        return try defaults[raw].map { String(decoding: try $0.json(), as: UTF8.self) } ?? "-"
    }

    @Test func `Enumerations are stored as their raw values`() throws {
        defaults[.band].append(.drums)
        defaults[.loudnesses][.piano] = 0.5
        defaults[.muted].insert(.guitar)
        defaults[.difficulties] = [.easy, .hard]
        #expect(try json(of: "Band") == #"["piano","drums"]"#)
        #expect(try json(of: "Loudnesses") == #"{"piano":0.5}"#)
        #expect(try json(of: "Muted") == #"{"$class":"NSSet","NS.objects":["guitar"]}"#)
        #expect(try json(of: "Difficulties") == #"["easy","hard"]"#)
        #expect(defaults[.difficulties] == [.easy, .hard])
    }

    @Test func `An element that is not a raw value makes the whole array unreadable`() throws {
        for name in ["Band", "Orchestra"] {
            defaults[DefaultsKey(name, default: [String]())] = ["drums", "theremin"]
        }
        #expect(defaults[.band] == [.piano])
        #expect(defaults[.orchestra] == [.drums])
    }

    @Test func `A case with a payload is an object`() throws {
        defaults[.clips] = [.silence(seconds: 2), .sample(Clip.Sample(file: "a.wav"))]
        #expect(
            try json(of: "Clips")
                == #"[{"$class":"Clip","silence":{"seconds":2.0}},"#
                + #"{"$class":"Clip","sample":{"_0":{"$class":"Clip.Sample","file":"a.wav","gain":1.0}}}]"#
        )
        #expect(defaults[.clips].count == 2)
    }

    @Test func `A set of options is an integer, and keeps unknown bits`() throws {
        defaults[.toolbars].insert(.effects)
        #expect(try json(of: "Toolbars") == "3")
        defaults[DefaultsKey("Toolbars", default: 0)] = 12
        defaults[.toolbars].insert(.main)
        #expect(try json(of: "Toolbars") == "13")
    }

    @Test func `Elements have a coding of their own`() throws {
        defaults[.palette] = [Color(red: 0, green: 0, blue: 255)]
        defaults[.colors]["sky"] = Color(red: 0, green: 0, blue: 255)
        #expect(try json(of: "Palette") == ##"["#0000ff"]"##)
        #expect(try json(of: "Colors") == ##"{"sky":"#0000ff"}"##)
    }

    @Test func `A dictionary has values of all kinds`() throws {
        defaults[.plugIns] = ["reverb": ["room": 0.7, "isOn": true], "chain": ["eq", "reverb"]]
        let room = defaults[.plugIns]["reverb"]?["room"]?.doubleValue ?? 0.5
        #expect(room == 0.7)
        defaults[.plugIns]["reverb"] = ["room": 0.2]
        #expect(try json(of: "PlugIns") == #"{"chain":["eq","reverb"],"reverb":{"room":0.2}}"#)
    }

    private func add(_ instrument: Instrument) async throws {
        try await defaults.update(.band) { $0.append(instrument) }
    }
}
