import DefaultsTerms
import DomainForms
import OwnedDocuments
import SystemCalls
import YAMLDocuments

/// The text of a file that can be a document.
struct DocumentText {
    private let source: Result<any DocumentSource, DocumentError>
    private let name: String
    /// Whether it has a header, and names its owner and domains itself.
    let hasHeader: Bool
    /// Whether it is a document by its form: lines with changes are neither YAML nor a property list, and each
    /// object among them has a domain.
    let isMeantAsDocument: Bool

    private static let header = "$defaults"

    /// - Parameter name: What the file is called in messages.
    /// - Throws: `ToolError` if its form is known, and it has a fault.
    init(_ bytes: [UInt8], isYAML: Bool, named name: String) throws(ToolError) {
        self.name = name
        let isPropertyList = DomainFormat(of: bytes) != nil
        let isYAML = isYAML || !isPropertyList && Self.looksLikeYAML(bytes)
        do throws(DocumentError) {
            let source: any DocumentSource
            if isYAML {
                source = try YAMLSource(bytes)
            } else if isPropertyList {
                source = try PropertyListSource(bytes)
            } else {
                source = try JSONSource(bytes)
            }
            self.source = .success(source)
            hasHeader = source.hasKey(Self.header)
            isMeantAsDocument = isYAML || isPropertyList || !source.hasKey("domain")
        } catch {
            // Lines with changes are not one object.
            guard !isYAML, !isPropertyList else { throw .input(name, error) }
            source = .failure(error)
            hasHeader = false
            isMeantAsDocument = name.lowercased().hasSuffix(".plist")
        }
    }

    /// Whether a line begins with the header, as no JSON and no line with a change does.
    private static func looksLikeYAML(_ bytes: [UInt8]) -> Bool {
        let header = "\(header):".utf8
        return bytes.split(separator: UInt8(ascii: "\n")).contains { $0.starts(with: header) }
    }

    /// Reads all of it, and throws what is wrong with its form: then the header may be after the fault.
    func checkForm() throws(ToolError) {
        guard case .success(var source) = source else { return }
        do throws(DocumentError) {
            while try source.nextKey() != nil { try source.skipValue() }
        } catch {
            throw .input(name, error)
        }
    }

    /// What its owner wants, if it has a header.
    func document() throws(ToolError) -> OwnedDocument {
        try reading { reader throws(DocumentError) in try reader.document() }
    }

    /// What an owner wants, if the text is one domain.
    func document(ofDomain domain: String, for owner: Owner) throws(ToolError) -> OwnedDocument {
        try reading { reader throws(DocumentError) in try reader.domain(domain, of: owner) }
    }

    private func reading(
        _ read: (inout DocumentReader) throws(DocumentError) -> OwnedDocument
    ) throws(ToolError) -> OwnedDocument {
        do throws(DocumentError) {
            var reader = DocumentReader(try source.get(), onHost: HostName.current)
            return try read(&reader)
        } catch {
            throw .input(name, error)
        }
    }
}

extension ToolError {
    fileprivate static func input(_ name: String, _ error: DocumentError) -> ToolError {
        let place = error.place.map { ", line \($0.line), column \($0.column)" } ?? ""
        return .input(name + place, error.message)
    }
}
