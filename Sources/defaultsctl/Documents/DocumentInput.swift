import DefaultsTerms
import DomainForms
import OwnedDocuments
import SystemCalls
import YAMLDocuments

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
            return .document(try directory(path, owner: owner))
        }
        return try input(path, domain: domain, owner: owner, isYAML || Self.isYAML(path))
    }

    private static func input(
        _ path: String, domain: String?, owner: Owner?, _ isYAML: Bool
    ) throws -> DocumentInput {
        let name = path == "-" ? "standard input" : path
        let bytes = try contents(of: path, named: name)
        if let document = try withHeader(bytes, isYAML, named: name) {
            guard domain == nil else {
                throw ToolError.input(name, "It names its domains itself. Omit --domain.")
            }
            guard owner.map({ $0 == document.owner }) ?? true else {
                throw ToolError.input(name, "Its owner is \(document.owner.name). Omit --owner.")
            }
            return .document(document)
        }
        if let domain {
            guard let owner else { throw ToolError.domainWithoutOwner }
            return .document(try ofDomain(domain, bytes, isYAML, owner: owner, named: name))
        }
        guard owner == nil, !isYAML, !looksLikeDocument(bytes, named: path) else {
            throw ToolError.input(name, ToolError.noHeader)
        }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw ToolError.input(name, "It is not UTF-8 text.")
        }
        return .lines(try ChangeDocument(bytes, name: name))
    }

    private static func contents(of path: String, named name: String) throws -> [UInt8] {
        do throws(InputFile.Failure) {
            return try InputFile.contents(of: path, limit: mostBytes)
        } catch {
            throw ToolError.input(name, error.message)
        }
    }

    // MARK: Documents

    /// The document of a text that has a header; nil if it has none.
    private static func withHeader(
        _ bytes: [UInt8], _ isYAML: Bool, named name: String
    ) throws -> OwnedDocument? {
        let header = "$defaults"
        return try reading(name) { () throws(DocumentError) -> OwnedDocument? in
            if isYAML {
                let source = try YAMLSource(bytes)
                guard source.hasKey(header) else { return nil }
                var reader = DocumentReader(source, onHost: HostName.current)
                return try reader.document()
            }
            if isPropertyList(bytes) {
                guard PropertyListSource.isDictionary(bytes, withKey: header) else { return nil }
                var reader = DocumentReader(try PropertyListSource(bytes), onHost: HostName.current)
                return try reader.document()
            }
            guard JSONSource.isObject(bytes, withKey: header) else { return nil }
            var reader = DocumentReader(try JSONSource(bytes), onHost: HostName.current)
            return try reader.document()
        }
    }

    /// The document of a text that is one domain.
    private static func ofDomain(
        _ domain: String, _ bytes: [UInt8], _ isYAML: Bool, owner: Owner, named name: String
    ) throws -> OwnedDocument {
        try reading(name) { () throws(DocumentError) -> OwnedDocument in
            if isYAML {
                var reader = DocumentReader(try YAMLSource(bytes), onHost: HostName.current)
                return try reader.domain(domain, of: owner)
            }
            if isPropertyList(bytes) {
                var reader = DocumentReader(try PropertyListSource(bytes), onHost: HostName.current)
                return try reader.domain(domain, of: owner)
            }
            var reader = DocumentReader(try JSONSource(bytes), onHost: HostName.current)
            return try reader.domain(domain, of: owner)
        }
    }

    private static func isYAML(_ path: String) -> Bool {
        let name = path.lowercased()
        return name.hasSuffix(".yaml") || name.hasSuffix(".yml")
    }

    /// Whether a text without a header was meant as a document, and not as lines.
    private static func looksLikeDocument(_ bytes: [UInt8], named path: String) -> Bool {
        let name = path.lowercased()
        let isNamed = name.hasSuffix(".plist") || name.hasSuffix(".json") && bytes.isEmpty
        let words = ["<?xml", "<!DOCTYPE", "<plist", "bplist", "$defaults"]
        return isNamed || words.contains { bytes.starts(with: $0.utf8) }
    }

    private static func isPropertyList(_ bytes: [UInt8]) -> Bool {
        switch DomainFormat(of: bytes) {
        case .xml, .binary: true
        case .json, nil: false
        }
    }

    /// The documents of a directory, as one: files with a header, and `DOMAIN.json` and `DOMAIN.plist`.
    private static func directory(_ path: String, owner: Owner?) throws -> OwnedDocument {
        let names: [String]
        do {
            names = try Directory.names(in: path).sorted()
        } catch {
            throw ToolError.input(path, "\(error.reason).")
        }
        var (all, hasBareFiles): (OwnedDocument?, Bool) = (nil, false)
        for name in names where !name.hasPrefix(".") {
            let parts = name.split(separator: ".")
            guard parts.count > 1, let ending = parts.last,
                ["json", "plist", "yaml", "yml"].contains(ending.lowercased())
            else { continue }
            let file = path + "/" + name
            guard FileStatus.ifAny(file)?.kind == .regular else {
                throw ToolError.input(file, "It is not a file.")
            }
            let bytes = try contents(of: file, named: file)
            let part: OwnedDocument
            if let document = try withHeader(bytes, Self.isYAML(name), named: file) {
                part = document
            } else {
                hasBareFiles = true
                guard let owner else {
                    throw ToolError.directoryWithoutOwner(path)
                }
                let domain = String(name.dropLast(ending.count + 1))
                // An export has a file for each layer of the user's, too: DOMAIN@host.json.
                guard DomainRule.allows(String(domain.prefix { $0 != "@" })),
                    !LayerName.isReadOnly(domain)
                else {
                    throw ToolError.input(file, "'\(domain)' is not a domain.")
                }
                part = try ofDomain(domain, bytes, Self.isYAML(name), owner: owner, named: file)
            }
            guard owner.map({ $0 == part.owner }) ?? true,
                all.map({ $0.owner == part.owner }) ?? true
            else {
                throw ToolError.input(
                    file, "Its owner is \(part.owner.name), and not that of the others.")
            }
            var whole = all ?? OwnedDocument(of: part.owner)
            try reading(file) { () throws(DocumentError) in try whole.add(part) }
            all = whole
        }
        if let owner, hasBareFiles {
            Complaint.say(
                "\(owner.name) becomes the owner of everything in \(path.fileTitle): what leaves these files "
                    + "later goes back. For a few settings, write a document.")
        }
        guard let all else {
            throw ToolError.input(path, "It has no files that end in .json, .plist, .yaml or .yml.")
        }
        return all
    }

    private static func reading<Result>(
        _ name: String, _ read: () throws(DocumentError) -> Result
    ) throws(ToolError) -> Result {
        do throws(DocumentError) {
            return try read()
        } catch {
            let place = error.place.map { ", line \($0.line), column \($0.column)" } ?? ""
            throw .input(name + place, error.message)
        }
    }
}
