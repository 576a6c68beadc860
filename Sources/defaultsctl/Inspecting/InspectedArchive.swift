import DBus
import DomainForms
import Glibc
import KeyedArchive
import PropertyList
import SystemCalls
import XMLPropertyList

/// An archive that is inspected, with the origin of its bytes for error messages.
struct InspectedArchive {
    let archive: KeyedArchive
    private let name: String
    /// The XML document that the archive was read from, if any.
    private let document: XMLPropertyList?

    /// Makes it from an archive of the database.
    init(_ archive: KeyedArchive, name: String) {
        self.archive = archive
        self.name = name
        document = nil
    }

    /// Reads a file; `-` means standard input.
    ///
    /// - Throws: `ToolError` that says what is wrong, and where.
    init(contentsOf path: String) throws {
        let name = path == "-" ? "standard input" : path
        let bytes: [UInt8]
        do {
            bytes = try InputFile.contents(of: path, limit: KeyedArchive.Limits.standard.byteCount)
        } catch {
            throw ToolError.input(name, error.message)
        }
        try self.init(bytes, name: name)
    }

    /// Reads the bytes of a file.
    ///
    /// - Parameter name: The name of the file, for errors.
    init(_ bytes: [UInt8], name: String) throws {
        self.name = name
        guard XMLPropertyList.isXML(bytes) else {
            document = nil
            do {
                archive = try Self.archive(bytes)
            } catch {
                throw ToolError.input(name, "\(error)")
            }
            return
        }
        let document: XMLPropertyList
        do {
            document = try XMLPropertyList(bytes)
        } catch {
            throw ToolError.input(name, "\(error)")
        }
        self.document = document
        do {
            archive = try KeyedArchive(validating: document.binary, limits: Self.limitsOfXML)
        } catch {
            throw Self.failure(of: error, name: name, document: document)
        }
    }

    /// Validates an archive, whose references may be spelled as in XML.
    private static func archive(_ bytes: [UInt8]) throws(ArchiveError) -> KeyedArchive {
        guard let list = try? PropertyList(bytes), list.firstSpelledReference != nil else {
            return try KeyedArchive(validating: bytes)
        }
        return try KeyedArchive(copying: list.root, of: list)
    }

    /// The document was within these limits.
    ///
    /// In binary, strings can be larger.
    private static let limitsOfXML = KeyedArchive.Limits(
        byteCount: .max, objectCount: .max, depth: KeyedArchive.Limits.standard.depth)

    /// The error if the archive cannot be shown.
    func failure(of error: any Error) -> ToolError {
        Self.failure(of: error, name: name, document: document)
    }

    /// Converts an offset to a place in the original.
    ///
    /// For XML, this is the line and column.
    private static func failure(
        of error: any Error, name: String, document: XMLPropertyList?
    ) -> ToolError {
        let (message, offset): (String, Int)
        switch error {
        case let error as ArchiveError: (message, offset) = (error.message, error.byteOffset)
        case let error as XMLWritingError: (message, offset) = (error.message, error.byteOffset)
        default: return ToolError(error)
        }
        let place = document.map { "\($0.place(ofByte: offset))" } ?? "byte \(offset)"
        return .input(name, "\(message) (\(place))")
    }
}

extension KeyedArchive {
    /// The archive as a property list in XML.
    func xml() throws -> [UInt8] {
        let limits = Limits(byteCount: .max, objectCount: .max, depth: Limits.standard.depth)
        return try PropertyList(bytes, limits: limits).xml()
    }
}

/// Reads files up to a limit.
enum InputFile {
    struct Failure: Error {
        let message: String
    }

    /// The bytes of a file; `-` means standard input.
    static func contents(of path: String, limit: Int) throws(Failure) -> [UInt8] {
        let bytes: [UInt8]?
        do throws(SystemError) {
            bytes =
                path == "-"
                ? try Defaultsctl.console.input(atMost: limit)
                : try File(path, O_RDONLY).contents(atMost: limit)
        } catch {
            throw Failure(message: "It cannot be read: \(error.reason).")
        }
        guard let bytes else {
            throw Failure(message: "It has more than \(limit) bytes, which is the limit.")
        }
        return bytes
    }
}
