internal import CExpat
internal import Glibc
internal import SystemCalls

/// What a schema says about a key to people, in the language of the schema.
package struct SettingsTexts: Hashable, Sendable {
    /// A few words; nil if there are none.
    package var summary: String?
    /// Sentences, in paragraphs with an empty line between them; nil if there are none.
    package var description: String?
}

extension SchemaCatalog {
    /// The most bytes of a file of schemas in XML.
    private static let maximumFileSize = 4 << 20

    /// The texts of a key; nil if no file of schemas has the key.
    package func texts(of key: SettingsSchema.Key) -> SettingsTexts? {
        texts(of: key.origin.schema, in: key.origin.directory)[key.name]
    }

    /// The texts of all keys of a schema that have some.
    package func texts(of schema: SettingsSchema) -> [String: SettingsTexts] {
        schema.origins.reduce(into: [:]) { all, origin in
            all.merge(texts(of: origin.schema, in: origin.directory)) { nearest, _ in nearest }
        }
    }

    /// The texts of the keys that a schema has itself.
    ///
    /// The compiled files do not have them, so this reads the files that they were made from. The
    /// name of a file is mostly the beginning of the names of its schemas.
    private func texts(of schema: String, in directory: String) -> [String: SettingsTexts] {
        let files = Directory.readableNames(in: directory).filter { $0.hasSuffix(".gschema.xml") }
        let ranked = files.map { (name: $0, score: $0.commonPrefix(with: schema)) }.sorted {
            $0.score == $1.score ? $0.name < $1.name : $0.score > $1.score
        }
        for (name, _) in ranked {
            guard let file = try? File.regular("\(directory)/\(name)", O_RDONLY),
                let bytes = try? file.contents(atMost: Self.maximumFileSize),
                bytes.contains(text: schema), let parser = SchemaTextParser(schema: schema)
            else { continue }
            if let texts = parser.texts(in: bytes) { return texts }
        }
        return [:]
    }
}

extension String {
    /// How many bytes the beginnings of two texts have in common.
    fileprivate func commonPrefix(with other: String) -> Int {
        zip(utf8, other.utf8).prefix { $0 == $1 }.count
    }
}

extension [UInt8] {
    /// Whether the bytes of a text are anywhere in these.
    func contains(text: String) -> Bool {
        let text = Array(text.utf8)
        guard let first = text.first else { return true }
        return withUnsafeBytes { bytes in
            var offset = 0
            while let base = bytes.baseAddress, offset + text.count <= bytes.count,
                let found = memchr(base + offset, Int32(first), bytes.count - offset)
            {
                offset = base.distance(to: UnsafeRawPointer(found))
                guard offset + text.count <= bytes.count else { return false }
                if memcmp(found, text, text.count) == 0 { return true }
                offset += 1
            }
            return false
        }
    }
}

/// The only owner of an expat parser, which reads one file of schemas for the texts of one schema.
///
/// It is a class because expat calls back with a pointer to it. A file that is wrong has the texts
/// that come before the error.
private final class SchemaTextParser {
    /// The most bytes of a text.
    private static let maximumLength = 64 << 10

    private let handle: OpaquePointer
    private let schema: String
    private var isInSchema = false
    /// The texts of each key; nil before the schema has come.
    private var texts: [String: SettingsTexts]?
    /// The key that is being read; nil outside the elements of keys.
    private var key: String?
    /// The text that is being read; nil outside the elements of texts.
    private var text: [UInt8]?

    /// Nil if there is no memory for it.
    init?(schema: String) {
        guard let handle = XML_ParserCreate(nil) else { return nil }
        (self.handle, self.schema) = (handle, schema)
    }

    deinit {
        XML_ParserFree(handle)
    }

    /// The texts of the keys; nil if the file does not have the schema.
    func texts(in file: [UInt8]) -> [String: SettingsTexts]? {
        setHandlers()
        // The pointer is only used during the call. An error ends the parser, which is all there is
        // to do about it.
        _ = file.withUnsafeBytes { buffer in
            let start = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            return XML_Parse(handle, start, Int32(clamping: buffer.count), 1)
        }
        return texts
    }

    private func setHandlers() {
        // The parser is not retained: expat calls only from within `texts`.
        XML_SetUserData(handle, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            handle,
            { parser, name, attributes in
                guard let name else { return }
                SchemaTextParser.from(parser)?.begin(String(cString: name), attributes)
            },
            { parser, name in
                guard let name else { return }
                SchemaTextParser.from(parser)?.end(String(cString: name))
            })
        XML_SetCharacterDataHandler(handle) { parser, characters, count in
            // The characters are valid during the call, which copies them.
            let bytes = UnsafeRawBufferPointer(start: characters, count: Int(count))
            SchemaTextParser.from(parser)?.add(bytes)
        }
        // Schemas declare no entities, which could make a short file a long text.
        XML_SetEntityDeclHandler(handle) { parser, _, _, _, _, _, _, _, _ in
            guard let parser = SchemaTextParser.from(parser) else { return }
            XML_StopParser(parser.handle, 0)
        }
    }

    private static func from(_ pointer: UnsafeMutableRawPointer?) -> SchemaTextParser? {
        pointer.map { Unmanaged<SchemaTextParser>.fromOpaque($0).takeUnretainedValue() }
    }
}

// MARK: Events

extension SchemaTextParser {
    private func begin(
        _ element: String, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) {
        switch element {
        case "schema":
            isInSchema = Self.value(of: "id", attributes) == schema
            if isInSchema, texts == nil { texts = [:] }
        case "key" where isInSchema:
            key = Self.value(of: "name", attributes)
            if let key { texts?[key] = SettingsTexts() }
        case "summary" where key != nil, "description" where key != nil: text = []
        default: break
        }
    }

    private func end(_ element: String) {
        switch element {
        case "schema": isInSchema = false
        case "key": key = nil
        case "summary": takeText(to: \.summary)
        case "description": takeText(to: \.description)
        default: break
        }
    }

    private func add(_ bytes: UnsafeRawBufferPointer) {
        guard let count = text?.count else { return }
        text?.append(contentsOf: bytes.prefix(Self.maximumLength - count))
    }

    private func takeText(to part: WritableKeyPath<SettingsTexts, String?>) {
        guard let key, texts != nil, text != nil else { return }
        texts?[key, default: SettingsTexts()][keyPath: part] = takeText()
    }

    /// The text with its paragraphs, and single spaces in them; nil if there are only spaces.
    private func takeText() -> String? {
        let text = String(decoding: text ?? [], as: UTF8.self)
        self.text = nil
        let spaces = Set("\t\n\u{B}\u{C}\r ".unicodeScalars)
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.split(whereSeparator: spaces.contains).map { String($0) } }
        let paragraphs = lines.split(whereSeparator: \.isEmpty).map {
            $0.joined().joined(separator: " ")
        }
        return paragraphs.isEmpty ? nil : paragraphs.joined(separator: "\n\n")
    }

    /// The value of an attribute, of which expat gives the name and then the value.
    private static func value(
        of name: String, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) -> String? {
        guard var next = attributes else { return nil }
        while let current = next.pointee, let value = next.successor().pointee {
            if String(cString: current) == name { return String(cString: value) }
            next = next.advanced(by: 2)
        }
        return nil
    }
}
