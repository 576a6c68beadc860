import DefaultsTerms
import OwnedDocuments
import SystemCalls

/// What `apply` was given: a document of an owner, or lines with one change each.
enum DocumentInput {
    case document(OwnedDocument)
    case lines(ChangeDocument)

    /// The most bytes that are read, which are all in memory at the same time.
    private static let mostBytes = 256 << 20

    /// Reads what a path names.
    ///
    /// - Parameters:
    ///   - path: A file, a directory, or - for standard input.
    ///   - domain: The domain of a file that has no header.
    ///   - owner: The owner of files that have no header.
    ///   - isYAML: Whether it is YAML, whatever its name is.
    static func read(
        _ path: String, domain: String?, owner: Owner?, isYAML: Bool
    ) throws -> DocumentInput {
        if path != "-", FileStatus.ifAny(path)?.kind == .directory {
            guard domain == nil else { throw ToolError.domainOfDirectory }
            return .document(try DocumentDirectory(path, owner: owner).document())
        }
        return try input(path, domain: domain, owner: owner, isYAML || Self.isYAML(path))
    }

    private static func input(
        _ path: String, domain: String?, owner: Owner?, _ isYAML: Bool
    ) throws -> DocumentInput {
        let name = path == "-" ? "standard input" : path
        let bytes = try contents(of: path, named: name)
        let text = try DocumentText(bytes, isYAML: isYAML, named: name)
        if text.hasHeader {
            guard domain == nil else {
                throw ToolError.input(name, "It names its domains itself. Omit --domain.")
            }
            let document = try text.document()
            guard owner.map({ $0 == document.owner }) ?? true else {
                throw ToolError.input(name, "Its owner is \(document.owner.name). Omit --owner.")
            }
            return .document(document)
        }
        if let domain {
            guard let owner else { throw ToolError.domainWithoutOwner }
            let domain = try DomainWord(domain).name
            return .document(try text.document(ofDomain: domain, for: owner))
        }
        guard owner == nil, !text.isMeantAsDocument, !(bytes.isEmpty && path.hasSuffix(".json"))
        else {
            try text.checkForm()
            throw ToolError.input(name, ToolError.noHeader(isYAML: isYAML))
        }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw ToolError.input(name, "It is not UTF-8 text.")
        }
        return .lines(try ChangeDocument(bytes, name: name))
    }

    static func contents(of path: String, named name: String) throws -> [UInt8] {
        do throws(InputFile.Failure) {
            return try InputFile.contents(of: path, limit: mostBytes)
        } catch {
            throw ToolError.input(name, error.message)
        }
    }

    static func isYAML(_ path: String) -> Bool {
        let name = path.lowercased()
        return name.hasSuffix(".yaml") || name.hasSuffix(".yml")
    }
}
