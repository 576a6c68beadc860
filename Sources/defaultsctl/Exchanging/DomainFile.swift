import DefaultsClient
import DomainForms
@preconcurrency import Glibc
import KeyedArchive
import OpenStepPropertyList
import PropertyList
import XMLPropertyList

/// A file, or standard input, with the keys and values of a domain.
struct DomainFile {
    private let path: String
    private let bytes: [UInt8]
    private let format: DomainFormat?

    private var name: String { path == "-" ? "standard input" : path }

    /// Reads the file.
    ///
    /// - Parameter format: The format of the file; nil to detect it.
    init(_ path: String, format: DomainFormat?) throws(ToolError) {
        self.path = path
        do {
            bytes = try InputFile.contents(of: path, limit: PropertyList.Limits.domain.byteCount)
        } catch {
            throw .cannotRead(path == "-" ? "standard input" : path, because: error.message)
        }
        guard !bytes.isEmpty else {
            throw .fileIsEmpty(path == "-" ? "standard input" : path)
        }
        self.format = format ?? DomainFormat(of: bytes)
    }

    /// The entries of the file.
    ///
    /// - Parameter progress: Shows how much has been read.
    func entries(_ progress: ProgressBar) throws(ToolError) -> [DefaultsEntry] {
        switch format {
        case .json: return try entriesOfJSON(progress)
        case .xml, .binary: return try entries(of: propertyList(), progress)
        case nil:
            // JSON is not an old-style property list: its strings would be taken for entries.
            do throws(ToolError) {
                return try entriesOfJSON(progress)
            } catch {
                let isMeantAsJSON = path.hasSuffix(".json") || isLikeJSON
                if isMeantAsJSON, (try? propertyList()) == nil { throw error }
            }
            return try entries(of: propertyList(), progress)
        }
    }

    /// The file as one value: a keyed archive unchanged, otherwise the property list or the JSON.
    func value() throws(ToolError) -> KeyedArchive {
        if let format, format != .json { return try archive(of: propertyList()) }
        do {
            return try KeyedArchive(json: bytes)
        } catch {
            let isMeantAsJSON = format == .json || path.hasSuffix(".json") || isLikeJSON
            guard !isMeantAsJSON, let list = try? propertyList() else {
                throw .cannotParseFile(name, because: "\(error)")
            }
            return try archive(of: list)
        }
    }

    private func archive(of list: PropertyList) throws(ToolError) -> KeyedArchive {
        do {
            if PropertyListEntries.isArchive(list) {
                return try InspectedArchive(bytes, name: name).archive
            }
            return try WrittenValue.list(list).archive()
        } catch let error as ToolError {
            throw error
        } catch {
            throw .cannotParseFile(name, because: "\(error)")
        }
    }

    private func propertyList() throws(ToolError) -> PropertyList {
        do {
            switch format {
            case .xml:
                let document = try XMLPropertyList(bytes, limits: .domain)
                if let place = document.repeatedKey {
                    remarkOnKey(line: place.line, column: place.column)
                }
                return try PropertyList(document.binary, limits: .domain)
            case .binary: return try PropertyList(bytes, limits: .domain)
            default:
                return try PropertyList(
                    openStep: bytes, limits: .domain, repeatedKey: remarkOnKey)
            }
        } catch {
            throw .cannotParseFile(name, because: "\(error)")
        }
    }

    /// Whether it begins as only JSON does: with a bracket, or with a brace, a string and a colon.
    private var isLikeJSON: Bool {
        let start = ByteOrderMark.removed(from: Array(bytes.prefix(4096)))
        let text = String(decoding: start, as: UTF8.self)
        let content = text.drop(while: \.isWhitespace)
        guard content.first == "{" else { return content.first == "[" }
        let key = content.dropFirst().drop(while: \.isWhitespace)
        guard key.first == "\"" else { return false }
        let behind = key.dropFirst().drop { $0 != "\"" }.dropFirst().drop(while: \.isWhitespace)
        return behind.first == ":"
    }

    private func remarkOnKey(line: Int, column: Int) {
        Defaultsctl.console.complain(
            "defaultsctl: \(name.onOneLine) has the same key twice in a dictionary (line \(line), "
                + "column \(column)); the last one counts.\n")
    }

    private func entries(
        of list: PropertyList, _ progress: ProgressBar
    ) throws(ToolError) -> [DefaultsEntry] {
        guard let values = PropertyListEntries(of: list) else { throw .fileIsNoDictionary(name) }
        guard !PropertyListEntries.isArchive(list) else { throw .fileIsArchive(name) }
        var entries: [DefaultsEntry] = []
        try values.read { entry throws(ToolError) in
            try check(entry.key)
            entries.append(entry)
            progress.show(entries.count, of: values.count)
        }
        return entries
    }

    private func entriesOfJSON(_ progress: ProgressBar) throws(ToolError) -> [DefaultsEntry] {
        var entries: [DefaultsEntry] = []
        do {
            var reader = try JSONObjectReader(bytes)
            while let text = try reader.nextKey() {
                guard let key = text.string else { throw ToolError.keyIsNoText }
                try check(key)
                entries.append(DefaultsEntry(key: key, archive: try reader.value()))
                progress.show(reader.offset, of: bytes.count)
            }
        } catch let error as JSONError {
            throw .cannotParseFile(name, because: "\(error)")
        } catch {
            throw ToolError(error)
        }
        return entries
    }

    private func check(_ key: String) throws(ToolError) {
        guard !key.utf8.contains(0) else { throw .keyHasNUL(key, in: name) }
    }
}
