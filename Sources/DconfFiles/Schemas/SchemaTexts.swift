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
    ///
    /// The compiled files do not have them, so this reads the files that they were made from: that
    /// with the name of the schema first, and then all others.
    package func texts(of key: SettingsSchema.Key) -> SettingsTexts? {
        let (schema, directory) = key.origin
        let first = schema + ".gschema.xml"
        let others = Directory.readableNames(in: directory).sorted().filter {
            $0.hasSuffix(".gschema.xml") && $0 != first
        }
        for name in [first] + others {
            guard let file = try? File.regular("\(directory)/\(name)", O_RDONLY),
                let bytes = try? file.contents(atMost: Self.maximumFileSize),
                let parser = SchemaTextParser(schema: schema, key: key.name)
            else { continue }
            if let texts = parser.texts(in: bytes) { return texts }
        }
        return nil
    }
}

/// The only owner of an expat parser, which reads one file of schemas for the texts of one key.
///
/// It is a class because expat calls back with a pointer to it. A file that is wrong has the texts
/// that come before the error.
private final class SchemaTextParser {
    /// The most bytes of a text.
    private static let maximumLength = 64 << 10

    private let handle: OpaquePointer
    private let schema: String
    private let key: String
    private var isInSchema = false
    private var texts: SettingsTexts?
    private var isInKey = false
    /// The text that is being read; nil outside the elements of texts.
    private var text: [UInt8]?

    /// Nil if there is no memory for it.
    init?(schema: String, key: String) {
        guard let handle = XML_ParserCreate(nil) else { return nil }
        (self.handle, self.schema, self.key) = (handle, schema, key)
    }

    deinit {
        XML_ParserFree(handle)
    }

    /// The texts of the key; nil if the file does not have it.
    func texts(in file: [UInt8]) -> SettingsTexts? {
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
        case "schema": isInSchema = Self.value(of: "id", attributes) == schema
        case "key" where isInSchema:
            isInKey = Self.value(of: "name", attributes) == key
            if isInKey { texts = SettingsTexts() }
        case "summary" where isInKey, "description" where isInKey: text = []
        default: break
        }
    }

    private func end(_ element: String) {
        switch element {
        case "schema": isInSchema = false
        case "key": isInKey = false
        case "summary" where isInKey: texts?.summary = takeText()
        case "description" where isInKey: texts?.description = takeText()
        default: break
        }
    }

    private func add(_ bytes: UnsafeRawBufferPointer) {
        guard let count = text?.count else { return }
        text?.append(contentsOf: bytes.prefix(Self.maximumLength - count))
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
