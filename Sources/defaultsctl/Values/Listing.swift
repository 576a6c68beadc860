import DefaultsClient
import KeyedArchive
import OpenStepPropertyList
import PropertyList

/// Values under their keys, as macOS's `defaults` shows a domain, or several of them.
struct Listing {
    private var writer: DateFolding<DescriptionWriter>
    /// What failed first of that which cannot be shown.
    private(set) var failure: ToolError?

    /// - Parameter hasISODates: Whether dates are spelled in ISO 8601, and not as macOS does.
    init(hasISODates: Bool = false) {
        writer = DateFolding(into: DescriptionWriter(limit: .max, hasISODates: hasISODates))
    }

    /// What is shown of one value alone.
    static func text(of archive: KeyedArchive, key: String) throws(ToolError) -> String {
        var writer = DateFolding(into: DescriptionWriter())
        do {
            try archive.render(into: &writer)
        } catch {
            throw .cannotShow(key, because: error)
        }
        return String(decoding: writer.sink.output, as: UTF8.self)
    }

    /// Everything that was added.
    var text: String { String(decoding: writer.sink.output, as: UTF8.self) }

    /// Adds the dictionary of some entries; one that cannot be shown is left out.
    mutating func add(_ entries: [DefaultsEntry]) throws {
        try writer.beginDictionary()
        for entry in entries {
            // What was held back comes out before the mark is made.
            try writer.release()
            let mark = writer.sink.mark
            do {
                try writer.key(Text(entry.key))
                try entry.archive.render(into: &writer)
            } catch {
                failure = failure ?? .cannotShow(entry.key, because: error)
                writer.sink.rewind(to: mark)
                writer.forget()
            }
        }
        try writer.endDictionary()
    }

    /// Adds the dictionary of domains with their entries.
    mutating func add(_ domains: [(name: String, entries: [DefaultsEntry])]) throws {
        try writer.beginDictionary()
        for (name, entries) in domains {
            try writer.key(Text(name))
            try add(entries)
        }
        try writer.endDictionary()
    }
}

/// Values under their keys as JSON, without those that cannot be shown.
struct JSONListing {
    /// Whether dates are in ISO 8601.
    let hasISODates: Bool
    /// What failed first of that which cannot be shown.
    private(set) var failure: ToolError?

    init(hasISODates: Bool) {
        self.hasISODates = hasISODates
    }

    /// The object of some entries.
    mutating func object(of entries: [DefaultsEntry]) throws -> String {
        var members: [(String, String)] = []
        for entry in entries {
            do throws(ToolError) {
                members.append((entry.key, try entry.jsonText(hasISODates: hasISODates)))
            } catch {
                failure = failure ?? error
            }
        }
        return try ShownJSON.object(members)
    }

    /// The object of domains with their entries.
    mutating func object(
        of domains: [(name: String, entries: [DefaultsEntry])]
    ) throws -> String {
        try ShownJSON.object(domains.map { ($0.name, try object(of: $0.entries)) })
    }
}
