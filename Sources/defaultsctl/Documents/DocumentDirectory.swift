import DefaultsTerms
import OwnedDocuments
import SystemCalls

/// The documents of a directory, as one: files with a header, and `DOMAIN.json`, `DOMAIN.plist` and `DOMAIN.yaml`.
struct DocumentDirectory {
    private let path: String
    /// The owner of files that do not name one.
    private let owner: Owner?

    init(_ path: String, owner: Owner?) {
        self.path = path
        self.owner = owner
    }

    func document() throws -> OwnedDocument {
        var (all, hasBareFiles): (OwnedDocument?, Bool) = (nil, false)
        for name in try documentNames() {
            let (part, hasHeader) = try document(in: name)
            if !hasHeader { hasBareFiles = true }
            var whole = all ?? OwnedDocument(of: part.owner)
            try add(part, of: name, to: &whole)
            all = whole
        }
        guard let all else {
            throw ToolError.input(path, "It has no files that end in .json, .plist, .yaml or .yml.")
        }
        if hasBareFiles {
            Complaint.say(
                "\(all.owner.name) becomes the owner of everything in \(path.fileTitle): what leaves these files "
                    + "later goes back. For a few settings, write a document.")
        }
        return all
    }

    /// The names of the files that are read, in their order.
    private func documentNames() throws -> [String] {
        let names: [String]
        do {
            names = try Directory.names(in: path)
        } catch {
            throw ToolError.input(path, "\(error.reason).")
        }
        return names.sorted().filter { !$0.hasPrefix(".") && Self.ending(of: $0) != nil }
    }

    /// How the name of a document ends, with the dot; nil for other files.
    private static func ending(of name: String) -> Substring? {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
        let ending = name[dot...]
        return [".json", ".plist", ".yaml", ".yml"].contains(ending.lowercased()) ? ending : nil
    }

    private func document(in name: String) throws -> (OwnedDocument, hasHeader: Bool) {
        let file = path + "/" + name
        guard FileStatus.ifAny(file)?.kind == .regular else {
            throw ToolError.input(file, "It is not a file.")
        }
        let text = try DocumentText(
            DocumentInput.contents(of: file, named: file), isYAML: DocumentInput.isYAML(name),
            named: file)
        if text.hasHeader { return (try text.document(), true) }
        try text.checkForm()
        guard let owner else { throw ToolError.fileWithoutOwner(file) }
        let title = String(name.dropLast(Self.ending(of: name)?.count ?? 0))
        let name = title.withoutLayer
        guard DomainRule.allows(name), CommandSpelling.domain(name) == nil, !name.hasPrefix("-"),
            !LayerName.isReadOnly(title)
        else { throw ToolError.input(file, "'\(title)' is not a domain.") }
        guard let domain = HostFileName.domain(of: title) else {
            // It is checked all the same.
            let other = LayerName.host.spelling(of: title.withoutLayer)
            return (try text.document(ofDomain: other, for: owner).ofOtherHost(), false)
        }
        return (try text.document(ofDomain: domain, for: owner), false)
    }

    private func add(
        _ part: OwnedDocument, of name: String, to whole: inout OwnedDocument
    ) throws(ToolError) {
        let file = path + "/" + name
        guard owner.map({ $0 == part.owner }) ?? true, whole.owner == part.owner else {
            throw .input(file, "Its owner is \(part.owner.name), and not that of the others.")
        }
        do throws(DocumentError) {
            try whole.add(part)
        } catch {
            throw .input(file, error.message)
        }
    }
}
