import DefaultsClient
import DomainForms
import KeyedArchive
import PropertyList
import XMLPropertyList

/// A domain that is exported to a file.
struct ExportedDomain {
    private let entries: [DefaultsEntry]
    private let hasISODates: Bool
    /// Whether each value has to read back from a document as the same.
    private let isExact: Bool
    private let progress: ProgressBar
    /// Messages about keys that could not be exported as they are.
    private(set) var remarks: [String] = []
    /// The keys that the format cannot contain.
    ///
    /// They are not in the file.
    private(set) var missingKeys: [String] = []

    /// - Parameters:
    ///   - hasISODates: Whether dates in JSON are spelled in ISO 8601.
    ///   - isExact: Whether each value has to read back from a document as the same. What a property list
    ///     cannot say is then the data of its archive.
    ///   - progress: Shows how much of the file is done.
    init(
        _ entries: [DefaultsEntry], hasISODates: Bool, isExact: Bool = false,
        _ progress: ProgressBar
    ) {
        self.entries = entries
        self.hasISODates = hasISODates
        self.isExact = isExact
        self.progress = progress
    }

    /// The bytes of the file.
    ///
    /// Values that property lists support are written as such. An object is written as the property
    /// list of its archive, which `import` converts back. If XML cannot contain a character in it,
    /// the object is written as a dictionary whose `$archive` is the data of the archive.
    mutating func bytes(as format: DomainFormat) throws -> [UInt8] {
        switch format {
        case .json: return try json()
        case .binary: return try propertyList(forXML: false).bytes
        case .xml: return try propertyList(forXML: true).xml()
        }
    }

    /// The bytes of a file in XML; nil if XML cannot spell all of it.
    mutating func xmlOfAll() throws -> [UInt8]? {
        do {
            let bytes = try bytes(as: .xml)
            return missingKeys.isEmpty ? bytes : nil
        } catch is XMLWritingError {
            return nil
        }
    }

    private func json() throws -> [UInt8] {
        var text = "{"
        for (number, entry) in entries.enumerated() {
            text += number == 0 ? "\n" : ",\n"
            text += "  \(try entry.key.quoted): \(try entry.jsonText(hasISODates: hasISODates))"
            progress.show(number, of: entries.count)
        }
        return Array((text + (entries.isEmpty ? "}\n" : "\n}\n")).utf8)
    }

    private mutating func propertyList(forXML isForXML: Bool) throws -> PropertyList {
        var sink = DateFolding(into: PropertyListSink(hasWholeSeconds: isForXML))
        var (keys, values): ([ObjectIndex], [ObjectIndex]) = ([], [])
        for entry in entries {
            guard !isForXML || XMLPropertyList.canHold(Text(entry.key)) else {
                missingKeys.append(entry.key)
                continue
            }
            keys.append(sink.sink.writer.add(string: Text(entry.key)))
            progress.show(keys.count, of: entries.count)
            if try PlainValue.holds(entry.archive, forXML: isForXML),
                !isExact || readsBack(entry.archive, forXML: isForXML)
            {
                try entry.archive.render(into: &sink)
                guard let value = sink.sink.value else {
                    preconditionFailure("A value is incomplete.")
                }
                values.append(value)
            } else if isExact || isForXML && !entry.archive.list.isSpelledInXML {
                let key = sink.sink.writer.add(string: PropertyListEntries.archiveKey)
                let data = sink.sink.writer.add(data: entry.archive.bytes)
                values.append(sink.sink.writer.add(keys: [key], values: [data]))
                if isExact { continue }
                remarks.append(
                    "XML cannot contain the value of '\(entry.key.onOneLine)'. It is exported as the data of "
                        + "its archive, which import accepts.")
            } else {
                var copy = PropertyListCopy(of: entry.archive.list)
                values.append(copy.add(entry.archive.list.root, to: &sink.sink.writer))
            }
        }
        let root = sink.sink.writer.add(keys: keys, values: values)
        return sink.sink.writer.finishList(root: root)
    }

    /// Whether a value is the same when a document in a property list is read.
    private func readsBack(_ archive: KeyedArchive, forXML isForXML: Bool) -> Bool {
        var sink = DateFolding(into: PropertyListSink(hasWholeSeconds: isForXML))
        var builder = ValueFormBuilder()
        do {
            try archive.render(into: &sink)
            guard let root = sink.sink.value else { return false }
            let list = sink.sink.writer.finishList(root: root)
            try PropertyListForm(of: list, readsSpellings: true).render(list.root, into: &builder)
        } catch {
            return false
        }
        return builder.finish().isSame(as: archive)
    }
}
