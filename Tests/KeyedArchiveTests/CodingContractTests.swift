import ArchiveTestSupport
import KeyedArchive
import Testing

/// What the documentation of `Encoder` and `Decoder` promises to every type.
@Suite struct CodingContractTests {
    private enum Letter: String, CodingKey { case a, b, c }
    private enum Number: Int, CodingKey { case one = 1, two = 2 }

    /// A key with more than a name.
    private struct Labelled: CodingKey, Equatable {
        var stringValue: String
        var intValue: Int?
        var label = ""

        init(_ name: String, _ number: Int?, label: String) {
            (stringValue, intValue, self.label) = (name, number, label)
        }
        init?(stringValue: String) { self.init(stringValue, nil, label: "") }
        init?(intValue: Int) { nil }
    }

    private func text(_ body: @escaping (any Encoder) throws -> Void) throws -> String {
        try KeyedArchive.encoding(Handmade(body: body)).text()
            .replacing(#""$class":"Handmade","#, with: "")
    }

    private func decode(_ json: String, _ body: @escaping (any Decoder) throws -> Void) throws {
        try decode(KeyedArchive(json: json), body)
    }

    private func decode(
        _ archive: KeyedArchive, _ body: @escaping (any Decoder) throws -> Void
    ) throws {
        try Visit.$body.withValue(Visit.Body(run: body)) {
            _ = try KeyedArchiveDecoder().decode(Visit.self, from: archive)
        }
    }

    /// A closure that decodes by hand.
    private struct Visit: Decodable {
        struct Body: @unchecked Sendable { let run: (any Decoder) throws -> Void }

        @TaskLocal static var body: Body?

        init(from decoder: any Decoder) throws { try Self.body?.run(decoder) }
    }
}

// MARK: Containers that are requested again

extension CodingContractTests {
    @Test func `A second nested container of a key goes on in the first one`() throws {
        let written = try text { encoder in
            var container = encoder.container(keyedBy: Letter.self)
            var first = container.nestedContainer(keyedBy: Letter.self, forKey: .a)
            try first.encode(1, forKey: .a)
            var second = container.nestedContainer(keyedBy: Number.self, forKey: .a)
            try second.encode(2, forKey: .two)
            try first.encode(3, forKey: .b)
        }
        #expect(written == #"{"a":{"a":1,"b":3,"two":2}}"#)
    }

    @Test func `A second nested array of a key goes on in the first one`() throws {
        let written = try text { encoder in
            var container = encoder.container(keyedBy: Letter.self)
            var first = container.nestedUnkeyedContainer(forKey: .a)
            try first.encode(1)
            var second = container.nestedUnkeyedContainer(forKey: .a)
            #expect(second.count == 1)
            try second.encode("b")
            try first.encode(true)
        }
        #expect(written == #"{"a":[1,"b",true]}"#)
    }

    @Test func `Many nested containers that are requested again go on in the first ones`() throws {
        let keys = (0..<40).map { Labelled("key\($0)", nil, label: "") }
        let archive = try KeyedArchive.encoding(
            Handmade { encoder in
                var container = encoder.container(keyedBy: Labelled.self)
                for round in 0..<3 {
                    for key in keys {
                        var list = container.nestedUnkeyedContainer(forKey: key)
                        try list.encode(round)
                    }
                }
            })
        let fields = try KeyedArchiveDecoder().decode([String: [Int]].self, from: archive)
        #expect(fields.count == keys.count && fields.values.allSatisfy { $0 == [0, 1, 2] })
    }

    @Test func `A second encoder for the superclass goes on in the first one`() throws {
        let written = try text { encoder in
            var container = encoder.container(keyedBy: Letter.self)
            var first = container.superEncoder(forKey: .a).container(keyedBy: Letter.self)
            try first.encode(1, forKey: .a)
            var second = container.superEncoder(forKey: .a).container(keyedBy: Letter.self)
            try second.encode(2, forKey: .b)
            var nested = container.nestedContainer(keyedBy: Letter.self, forKey: .a)
            try nested.encode(3, forKey: .c)
        }
        #expect(written == #"{"a":{"a":1,"b":2,"c":3}}"#)
    }

    @Test func `Fields by keys of two types are in the same object`() throws {
        let written = try text { encoder in
            var letters = encoder.container(keyedBy: Letter.self)
            var numbers = encoder.container(keyedBy: Number.self)
            try numbers.encode("x", forKey: .one)
            try letters.encode("y", forKey: .a)
        }
        #expect(written == #"{"a":"y","one":"x"}"#)
    }

    @Test func `A nested container goes on in a value that was encoded before`() throws {
        let written = try text { encoder in
            var container = encoder.container(keyedBy: Letter.self)
            try container.encode(["b": 1], forKey: .a)
            var nested = container.nestedContainer(keyedBy: Letter.self, forKey: .a)
            try nested.encode(2, forKey: .c)
        }
        #expect(written == #"{"a":{"b":1,"c":2}}"#)
    }

    private static let containers: [String: @Sendable (any Encoder) throws -> Void] = [
        "an array": { encoder in
            var container = encoder.container(keyedBy: Letter.self)
            var list = container.nestedUnkeyedContainer(forKey: .a)
            try list.encode(1)
        },
        "an object": { encoder in
            var container = encoder.container(keyedBy: Letter.self)
            var object = container.nestedContainer(keyedBy: Letter.self, forKey: .a)
            // The last one may be told at the end alone.
            try? object.encode(1, forKey: .b)
        },
        "a number": { encoder in
            var container = encoder.container(keyedBy: Letter.self)
            try container.encode(1, forKey: .a)
        },
        "nil": { encoder in
            var container = encoder.container(keyedBy: Letter.self)
            try container.encodeNil(forKey: .a)
        },
        "an instance": { encoder in
            var container = encoder.container(keyedBy: Letter.self)
            try container.encode(Person("ada"), forKey: .a)
        },
    ]

    @Test(arguments: containers.keys, containers.keys)
    func `Two kinds of values for one key are an error`(_ one: String, _ other: String) throws {
        guard one != other, let first = Self.containers[one], let second = Self.containers[other]
        else { return }
        let message = summary {
            _ = try text { encoder in
                try first(encoder)
                try second(encoder)
            }
        }
        #expect(message?.hasPrefix("a: ") == true, "\(message ?? "no error")")
    }

    @Test func `An instance that is complete gets no more fields`() {
        let ada = Person("ada")
        let message = summary {
            _ = try text { encoder in
                var container = encoder.container(keyedBy: Letter.self)
                try container.encode(ada, forKey: .a)
                try container.encode(ada, forKey: .b)
                var nested = container.nestedContainer(keyedBy: Letter.self, forKey: .b)
                try? nested.encode(1, forKey: .c)
            }
        }
        #expect(message?.hasPrefix("b: ") == true, "\(message ?? "no error")")
    }
}

// MARK: Coding paths

extension CodingContractTests {
    private static let key = Labelled("field", 7, label: "mine")

    /// Whether these are the caller's own key, an index and the key of an enumeration.
    private func check(_ path: [any CodingKey], _ location: SourceLocation = #_sourceLocation) {
        #expect(path.map(\.stringValue) == ["field", "Index 1", "two"], sourceLocation: location)
        #expect(path.map(\.intValue) == [7, 1, 2], sourceLocation: location)
        #expect(path.first as? Labelled == Self.key, sourceLocation: location)
        #expect(path.last is Number, sourceLocation: location)
    }

    /// Encodes a value inside `field[1].two`.
    private func encodeInside(
        _ body: @escaping (any Encoder) throws -> Void
    ) throws -> KeyedArchive {
        let inner = Handmade { encoder in
            var container = encoder.container(keyedBy: Number.self)
            try container.encode(Handmade(body: body), forKey: .two)
        }
        return try KeyedArchive.encoding(
            Handmade { encoder in
                var container = encoder.container(keyedBy: Labelled.self)
                try container.encode([inner, inner], forKey: Self.key)
            })
    }

    @Test func `An encoder's path has the caller's own keys`() throws {
        var count = 0
        _ = try encodeInside { encoder in
            count += 1
            guard count == 2 else { return }
            self.check(encoder.codingPath)
            var container = encoder.container(keyedBy: Letter.self)
            self.check(container.codingPath)
            let nested = container.nestedContainer(keyedBy: Letter.self, forKey: .b)
            self.check(nested.codingPath.dropLast())
            #expect(nested.codingPath.last is Letter)
            let list = container.nestedUnkeyedContainer(forKey: .c)
            self.check(list.codingPath.dropLast())
            #expect(list.codingPath.last is Letter)
            let superclass = container.superEncoder(forKey: .a)
            self.check(superclass.codingPath.dropLast())
            #expect(superclass.codingPath.last is Letter)
        }
        #expect(count == 2)
    }

    @Test func `An encoding error's path has the caller's own keys`() throws {
        func path(_ body: @escaping (any Encoder) throws -> Void) throws -> [any CodingKey] {
            let error = #expect(throws: EncodingError.self) { _ = try encodeInside(body) }
            return try #require(error?.context).codingPath
        }
        var count = 0
        let twice = try path { encoder in
            count += 1
            var container = encoder.container(keyedBy: Number.self)
            try container.encode(1, forKey: .one)
            if count == 2 { try container.encode(2, forKey: .one) }
        }
        check(twice.dropLast())
        #expect(twice.last?.intValue == 1)
        count = 0
        let large = try path { encoder in
            count += 1
            var container = encoder.container(keyedBy: Number.self)
            if count == 2 { try container.encode(UInt128.max, forKey: .one) }
        }
        check(large.dropLast())
        #expect(large.last is Number)
    }

    @Test func `The path of an encoder is right after a value inside it has failed`() throws {
        struct Refusal: Error {}
        _ = try text { encoder in
            var container = encoder.container(keyedBy: Number.self)
            var list = container.nestedUnkeyedContainer(forKey: .one)
            try? container.encode(Handmade { _ in throw Refusal() }, forKey: .two)
            #expect(list.codingPath.map(\.intValue) == [1])
            try list.encode(
                Handmade { inner in
                    #expect(inner.codingPath.map(\.intValue) == [1, 0])
                    #expect(inner.codingPath.first is Number)
                })
            let second = Handmade { inner in
                #expect(inner.codingPath.map(\.intValue) == [2])
                var single = inner.singleValueContainer()
                try single.encode(Handmade { $0.unkeyedContainer().codingPath.forEach { _ in } })
                #expect(inner.codingPath.first is Number)
            }
            try container.encode(second, forKey: .two)
        }
    }

    private static let inside =
        #"{"field":[0,{"two":{"a":{"a":1},"b":[true],"c":"x"}}]}"#

    /// Decodes a value inside `field[1].two`.
    private func decodeInside(_ body: @escaping (any Decoder) throws -> Void) throws {
        try decode(Self.inside) { decoder in
            let container = try decoder.container(keyedBy: Labelled.self)
            var list = try container.nestedUnkeyedContainer(forKey: Self.key)
            _ = try list.decode(Int.self)
            let element = try list.nestedContainer(keyedBy: Number.self)
            try Visit.$body.withValue(Visit.Body(run: body)) {
                _ = try element.decode(Visit.self, forKey: .two)
            }
        }
    }

    @Test func `A decoder's path has the caller's own keys`() throws {
        try decodeInside { decoder in
            self.check(decoder.codingPath)
            let container = try decoder.container(keyedBy: Letter.self)
            self.check(container.codingPath)
            let nested = try container.nestedContainer(keyedBy: Letter.self, forKey: .a)
            #expect(nested.codingPath.last is Letter)
            let list = try container.nestedUnkeyedContainer(forKey: .b)
            #expect(list.codingPath.last is Letter)
            #expect(try container.superDecoder(forKey: .a).codingPath.last is Letter)
            #expect(throws: Never.self) {
                try Visit.$body.withValue(
                    Visit.Body { #expect($0.codingPath.last is Letter) }
                ) { _ = try container.decode(Visit.self, forKey: .c) }
            }
        }
    }

    @Test(arguments: [0, 1, 2, 3])
    func `A decoding error's path has the caller's own keys`(_ number: Int) throws {
        let error = #expect(throws: DecodingError.self) {
            try decodeInside { decoder in
                let container = try decoder.container(keyedBy: Number.self)
                let letters = try decoder.container(keyedBy: Letter.self)
                switch number {
                case 0: _ = try letters.decode(Int.self, forKey: .a)
                case 1: _ = try letters.decode([Int].self, forKey: .a)
                case 2: _ = try letters.nestedUnkeyedContainer(forKey: .c)
                default: _ = try container.decode(String.self, forKey: .two)
                }
            }
        }
        let path = try #require(error?.context).codingPath
        check(number == 3 ? path : path.dropLast())
        if number < 3 { #expect(path.last is Letter) }
    }
}

// MARK: Types that are known at run time

extension CodingContractTests {
    private func make(_ type: Vehicle.Type, _ vehicle: Vehicle) throws -> Vehicle {
        try KeyedArchiveDecoder().decode(type, from: .encoding(vehicle))
    }

    @Test func `A class that is passed as its superclass is decoded as itself`() throws {
        let car = try make(Car.self, Car(brand: "Tatra"))
        #expect((car as? Car)?.brand == "Tatra" && car.wheels == 4)
        #expect(type(of: try make(Vehicle.self, car)) == Vehicle.self)
    }

    // KeyedDecodingContainer itself passes only the static type on.
    @Test func `A class that is passed as its superclass is decoded as itself inside values`()
        throws
    {
        let type: Vehicle.Type = Car.self
        let car = Car(brand: "Tatra")
        try decode(.encoding([car, car])) { decoder in
            var list = try decoder.unkeyedContainer()
            let first = try list.decode(type)
            #expect(first is Car)
            let second = try list.superDecoder().singleValueContainer()
            // It is the same instance for all who decode it as the same class.
            #expect(try second.decode(type) === first)
            #expect(try second.decode(Car.self) === first)
            #expect(try second.decode(Vehicle.self) !== first)
        }
    }

    @Test func `An object of the superclass is not decoded as the class that is passed`() {
        #expect(throws: DecodingError.self) {
            try make(Car.self, Vehicle(wheels: 4))
        }
    }

    @Test func `A registered class is used only if it inherits from the class that is passed`()
        throws
    {
        var decoder = KeyedArchiveDecoder()
        decoder.setClass(Truck.self, forClassName: "Lorry")
        let lorry = try KeyedArchive(
            json: #"{"$class":"Lorry","base":{"wheels":6},"brand":"x","load":1,"wheels":6}"#)
        #expect(try decoder.decode(Vehicle.self, from: lorry) is Truck)
        let type: Vehicle.Type = Car.self
        #expect(throws: DecodingError.self) { try decoder.decode(type, from: lorry) }
    }
}

// MARK: Containers of a decoder

extension CodingContractTests {
    @Test func `A missing superclass is decoded from nothing`() throws {
        try decode(#"{"a":null}"#) { decoder in
            let container = try decoder.container(keyedBy: Letter.self)
            let missing = try container.superDecoder(forKey: .b)
            #expect(missing.codingPath.map(\.stringValue) == ["b"])
            #expect(try missing.singleValueContainer().decodeNil() == true)
            #expect(throws: DecodingError.self) { try missing.container(keyedBy: Letter.self) }
            #expect(throws: DecodingError.self) { try missing.unkeyedContainer() }
            #expect(try container.superDecoder(forKey: .a).singleValueContainer().decodeNil())
        }
    }

    @Test func `A nil field is there, and a missing one is not`() throws {
        try decode(#"{"a":null,"b":{"$class":"NSNull"}}"#) { decoder in
            let container = try decoder.container(keyedBy: Letter.self)
            #expect(container.contains(.a) && container.contains(.b) && !container.contains(.c))
            #expect(try container.decodeNil(forKey: .a) && container.decodeNil(forKey: .b))
            #expect(throws: DecodingError.self) { try container.decodeNil(forKey: .c) }
            #expect(try container.decodeIfPresent(Int.self, forKey: .a) == nil)
            #expect(try container.decodeIfPresent(Int.self, forKey: .b) == nil)
            #expect(try container.decodeIfPresent(Int.self, forKey: .c) == nil)
            #expect(try container.decode(Int?.self, forKey: .a) == nil)
            #expect(Set(container.allKeys) == [.a, .b])
            for key in [Letter.a, .c] {
                #expect(throws: DecodingError.self) { try container.decode(Int.self, forKey: key) }
                #expect(throws: DecodingError.self) {
                    try container.nestedContainer(keyedBy: Letter.self, forKey: key)
                }
                #expect(throws: DecodingError.self) {
                    try container.nestedUnkeyedContainer(forKey: key)
                }
            }
        }
    }

    @Test func `An element that fails is the next one again`() throws {
        try decode(#"["x",{"a":1},[2],null]"#) { decoder in
            var list = try decoder.unkeyedContainer()
            #expect(list.count == 4 && list.currentIndex == 0 && !list.isAtEnd)
            #expect(throws: DecodingError.self) { try list.decode(Int.self) }
            #expect(throws: DecodingError.self) { try list.nestedContainer(keyedBy: Letter.self) }
            #expect(throws: DecodingError.self) { try list.nestedUnkeyedContainer() }
            #expect(throws: DecodingError.self) { try list.decodeIfPresent(Int.self) }
            #expect(try !list.decodeNil())
            #expect(list.currentIndex == 0)
            #expect(try list.decode(String.self) == "x")
            #expect(throws: DecodingError.self) { try list.nestedUnkeyedContainer() }
            let nested = try list.nestedContainer(keyedBy: Letter.self)
            #expect(try nested.decode(Int.self, forKey: .a) == 1)
            #expect(try list.superDecoder().singleValueContainer().decode([Int].self) == [2])
            #expect(list.currentIndex == 3)
            #expect(try list.decodeNil())
            #expect(list.isAtEnd)
            #expect(throws: DecodingError.self) { try list.decodeNil() }
            #expect(throws: DecodingError.self) { try list.decode(Int?.self) }
            #expect(throws: DecodingError.self) { try list.superDecoder() }
        }
    }

    @Test func `Fields that are decoded by one value are decoded again by another`() throws {
        try decode(#"{"a":{"b":1}}"#) { decoder in
            for _ in 0..<2 {
                let container = try decoder.container(keyedBy: Letter.self)
                #expect(throws: DecodingError.self) { try decoder.unkeyedContainer() }
                let nested = try container.nestedContainer(keyedBy: Letter.self, forKey: .a)
                #expect(try nested.decode(Int.self, forKey: .b) == 1)
                #expect(try container.decode([String: Int].self, forKey: .a) == ["b": 1])
            }
        }
    }

    private struct Name: Codable, Hashable, CodingKeyRepresentable {
        var text: String

        init(text: String) { self.text = text }
        init?(codingKey: some CodingKey) { text = codingKey.stringValue }
        var codingKey: any CodingKey { Labelled(text, nil, label: "") }
    }

    private struct Node: Codable, Equatable {
        var children: [String: [Node]] = [:]
    }

    @Test func `Values of every shape are the same after coding`() throws {
        func check<Value: Codable & Equatable>(_ value: Value) throws {
            let archive = try KeyedArchive.encoding(value)
            #expect(try KeyedArchiveDecoder().decode(Value.self, from: archive) == value)
        }
        try check([Name(text: "a"): 1, Name(text: "b"): 2])
        try check([Colour.red: [1: "x"], .green: [:]])
        try check([-1: ["a": nil], 2: ["b": 3]] as [Int: [String: Int?]])
        try check([Int8.min: UInt64.max])
        try check(Meters(2.5))
        try check([Meters(2.5)])
        try check(Meters?.none)
        try check(Meters?.some(Meters(1)))
        try check(Empty?.some(Empty()))
        try check(["a": Empty()])
        try check(Node(children: ["a": [Node(), Node(children: ["b": []])]]))
        try check([Int?.none, 1])
        try check([[Int?.none]])
    }
}
