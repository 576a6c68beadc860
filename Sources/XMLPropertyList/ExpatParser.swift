internal import CExpat
internal import PropertyList

/// The only owner of an expat parser, which reads one document.
///
/// It is a class because expat calls back with a pointer to it.
final class ExpatParser {
    /// The number of bytes that expat gets at once.
    ///
    /// It counts them in 32 bits.
    private static let portion = 1 << 20

    private let handle: OpaquePointer
    private let text: DocumentText
    private var builder: DocumentBuilder
    /// The error of the builder.
    ///
    /// expat is then stopped, but may call a few more times.
    private var fault: XMLPropertyListError?

    init(_ text: DocumentText, limits: PropertyList.Limits) {
        guard let handle = XML_ParserCreate(text.isConverted ? "UTF-8" : nil) else {
            preconditionFailure("There is no memory for a parser of XML.")
        }
        self.handle = handle
        self.text = text
        builder = DocumentBuilder(limits: limits)
    }

    deinit {
        XML_ParserFree(handle)
    }

    /// Reads the document.
    func parse() throws(XMLPropertyListError) -> XMLPropertyList.Content {
        setHandlers()
        var rest = text.bytes
        repeat {
            let bytes = rest.prefix(Self.portion)
            rest = rest.dropFirst(Self.portion)
            try parse(bytes, isLast: rest.isEmpty)
        } while !rest.isEmpty
        return builder.finish()
    }

    private func parse(
        _ bytes: ArraySlice<UInt8>, isLast: Bool
    ) throws(XMLPropertyListError) {
        // The pointer is only used during the call. expat copies what it needs later.
        let status = bytes.withUnsafeBytes { buffer in
            let start = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            return XML_Parse(handle, start, Int32(buffer.count), isLast ? 1 : 0)
        }
        if let fault { throw fault }
        guard status == XML_STATUS_OK else {
            let reason = XML_ErrorString(XML_GetErrorCode(handle)).map { String(cString: $0) }
            throw .syntax(reason ?? "unknown error", at: place)
        }
    }

    /// The place of the current event.
    private var place: XMLPlace {
        text.place(
            line: Int(clamping: XML_GetCurrentLineNumber(handle)),
            column: Int(clamping: XML_GetCurrentColumnNumber(handle)) + 1,
            byteOffset: Int(clamping: XML_GetCurrentByteIndex(handle)))
    }
}

// MARK: Events

extension ExpatParser {
    /// Installs the functions that expat calls.
    private func setHandlers() {
        // The parser is not retained: expat calls only from within `parse`.
        XML_SetUserData(handle, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            handle,
            { parser, name, _ in
                ExpatParser.take(parser) { parser throws(XMLPropertyListError) in
                    let name = name.map { String(cString: $0) } ?? ""
                    try parser.builder.begin(name, at: parser.place)
                }
            },
            { parser, _ in
                ExpatParser.take(parser) { parser throws(XMLPropertyListError) in
                    try parser.builder.end(at: parser.place)
                }
            })
        XML_SetCharacterDataHandler(handle) { parser, characters, count in
            // The characters are valid during the call, which copies them.
            let bytes = UnsafeRawBufferPointer(start: characters, count: Int(count))
            ExpatParser.take(parser) { parser throws(XMLPropertyListError) in
                try parser.builder.characters(parser.text.original(bytes), at: parser.place)
            }
        }
        XML_SetEntityDeclHandler(handle) { parser, _, _, _, _, _, _, _, _ in
            ExpatParser.take(parser) { parser throws(XMLPropertyListError) in
                throw .entityDeclared(at: parser.place)
            }
        }
        // If a document has an external DTD, which is never loaded, expat would skip entities.
        XML_SetSkippedEntityHandler(handle) { parser, _, _ in
            ExpatParser.take(parser) { parser throws(XMLPropertyListError) in
                throw .entityUnknown(at: parser.place)
            }
        }
    }

    /// Passes an event to the builder, and stops the parser if the builder refuses it.
    private static func take(
        _ pointer: UnsafeMutableRawPointer?,
        _ event: (ExpatParser) throws(XMLPropertyListError) -> Void
    ) {
        guard let pointer else { preconditionFailure("expat has lost its user data.") }
        let parser = Unmanaged<ExpatParser>.fromOpaque(pointer).takeUnretainedValue()
        guard parser.fault == nil else { return }
        do throws(XMLPropertyListError) {
            try event(parser)
        } catch {
            parser.fault = error
            XML_StopParser(parser.handle, 0)
        }
    }
}
