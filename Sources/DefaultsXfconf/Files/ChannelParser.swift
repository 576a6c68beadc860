internal import CExpat

/// The only owner of an expat parser, which reads one file of a channel.
///
/// A file that declares entities is refused: they could expand to any size.
///
/// It is a class because expat calls back with a pointer to it.
final class ChannelParser {
    /// The number of bytes that expat gets at once.
    ///
    /// It counts them in 32 bits.
    private static let portion = 1 << 20

    private let handle: OpaquePointer
    private var builder: ChannelBuilder
    /// The first fault.
    ///
    /// expat is then stopped, but may call a few more times.
    private var fault: ChannelFileError?

    init(for user: UserNames) {
        guard let handle = XML_ParserCreate(nil) else {
            preconditionFailure("There is no memory for a parser of XML.")
        }
        self.handle = handle
        builder = ChannelBuilder(for: user)
    }

    deinit {
        XML_ParserFree(handle)
    }

    /// Reads the file.
    func parse(_ bytes: [UInt8]) throws(ChannelFileError) -> ChannelFile {
        setHandlers()
        var rest = bytes[...]
        repeat {
            let portion = rest.prefix(Self.portion)
            rest = rest.dropFirst(Self.portion)
            try parse(portion, isLast: rest.isEmpty)
        } while !rest.isEmpty
        return builder.finish()
    }

    private func parse(_ bytes: ArraySlice<UInt8>, isLast: Bool) throws(ChannelFileError) {
        // The pointer is only used during the call. expat copies what it needs later.
        let status = bytes.withUnsafeBytes { buffer in
            let start = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            return XML_Parse(handle, start, Int32(buffer.count), isLast ? 1 : 0)
        }
        if let fault { throw fault }
        guard status == XML_STATUS_OK else {
            let reason = XML_ErrorString(XML_GetErrorCode(handle)).map { String(cString: $0) }
            throw error("It is not valid XML: \(reason ?? "unknown error").")
        }
    }

    /// An error at the place of the current event.
    private func error(_ message: String, isTooLarge: Bool = false) -> ChannelFileError {
        ChannelFileError(
            message: message, isTooLarge: isTooLarge,
            line: Int(clamping: XML_GetCurrentLineNumber(handle)),
            column: Int(clamping: XML_GetCurrentColumnNumber(handle)) + 1)
    }
}

// MARK: Events

extension ChannelParser {
    /// Installs the functions that expat calls.
    ///
    /// Text between the elements is ignored, as Xfconf does.
    private func setHandlers() {
        // The parser is not retained: expat calls only from within `parse`.
        XML_SetUserData(handle, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            handle,
            { parser, name, attributes in
                ChannelParser.take(parser) { builder throws(ChannelBuilder.Fault) in
                    try builder.begin(
                        ChannelParser.string(name), ChannelParser.dictionary(attributes))
                }
            },
            { parser, name in
                ChannelParser.take(parser) { $0.end(ChannelParser.string(name)) }
            })
        XML_SetEntityDeclHandler(handle) { parser, _, _, _, _, _, _, _, _ in
            ChannelParser.take(parser) { _ throws(ChannelBuilder.Fault) in
                throw ChannelBuilder.Fault(message: "It declares entities, which are not read.")
            }
        }
        // If a file has an external DTD, which is never loaded, expat would skip entities.
        XML_SetSkippedEntityHandler(handle) { parser, _, _ in
            ChannelParser.take(parser) { _ throws(ChannelBuilder.Fault) in
                throw ChannelBuilder.Fault(message: "It has an entity that is not known.")
            }
        }
    }

    private static func string(_ name: UnsafePointer<XML_Char>?) -> String {
        name.map { String(cString: $0) } ?? ""
    }

    /// The attributes of an element; expat refuses an element that has one twice.
    private static func dictionary(
        _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
    ) -> [String: String] {
        guard var next = attributes else { return [:] }
        var dictionary: [String: String] = [:]
        while let name = next.pointee {
            dictionary[String(cString: name)] = string(next[1])
            next += 2
        }
        return dictionary
    }

    /// Passes an event to the builder, and stops the parser if the builder refuses it.
    private static func take(
        _ pointer: UnsafeMutableRawPointer?,
        _ event: (inout ChannelBuilder) throws(ChannelBuilder.Fault) -> Void
    ) {
        guard let pointer else { preconditionFailure("expat has lost its user data.") }
        let parser = Unmanaged<ChannelParser>.fromOpaque(pointer).takeUnretainedValue()
        guard parser.fault == nil else { return }
        do throws(ChannelBuilder.Fault) {
            try event(&parser.builder)
        } catch {
            parser.fault = parser.error(error.message, isTooLarge: error.isTooLarge)
            XML_StopParser(parser.handle, 0)
        }
    }
}
