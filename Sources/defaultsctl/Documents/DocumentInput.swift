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
            return .document(try directory(path, owner: owner))
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
            return .document(try text.document(ofDomain: domain, for: owner))
        }
        guard owner == nil, !text.isMeantAsDocument, !(bytes.isEmpty && path.hasSuffix(".json"))
        else { throw ToolError.input(name, ToolError.noHeader) }
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

    private static func isYAML(_ path: String) -> Bool {
        let name = path.lowercased()
        return name.hasSuffix(".yaml") || name.hasSuffix(".yml")
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
            let text = try DocumentText(
                contents(of: file, named: file), isYAML: Self.isYAML(name), named: file)
            let part: OwnedDocument
            if text.hasHeader {
                part = try text.document()
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
                part = try text.document(ofDomain: domain, for: owner)
            }
            guard owner.map({ $0 == part.owner }) ?? true,
                all.map({ $0.owner == part.owner }) ?? true
            else {
                throw ToolError.input(
                    file, "Its owner is \(part.owner.name), and not that of the others.")
            }
            var whole = all ?? OwnedDocument(of: part.owner)
            do {
                try whole.add(part)
            } catch {
                throw ToolError.input(file, error.message)
            }
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
}
