internal import DomainForms
package import KeyedArchive
internal import PropertyList
internal import XMLPropertyList

/// A document as a property list, in XML or binary.
package struct PropertyListSource: DocumentSource {
    private enum Level {
        case dictionary(PropertyListEntries, next: Int)
        case array(PropertyList.References, next: Int)
    }

    private let list: PropertyList
    /// The same with the places in the XML; nil for a binary list.
    private let xml: XMLPropertyList?
    private var levels: [Level] = []
    /// The value that comes next.
    private var next: ObjectIndex

    /// - Throws: ``DocumentError`` if the bytes are not a property list whose root is a dictionary.
    package init(_ bytes: [UInt8]) throws(DocumentError) {
        do {
            if XMLPropertyList.isXML(bytes) {
                let document = try XMLPropertyList(bytes, limits: .domain)
                xml = document
                list = try PropertyList(document.binary, limits: .domain)
            } else {
                xml = nil
                list = try PropertyList(bytes, limits: .domain)
            }
        } catch let error as XMLPropertyListError {
            throw DocumentError(
                error.message, at: .init(line: error.place.line, column: error.place.column))
        } catch {
            throw DocumentError("\(error)", at: nil)
        }
        next = list.root
        guard try enterDictionary() else {
            throw DocumentError("The property list is not a dictionary.", at: place)
        }
        if let repeated = xml?.repeatedKey {
            throw DocumentError(
                "The key is in the same dictionary twice.",
                at: .init(line: repeated.line, column: repeated.column))
        }
    }

    package func hasKey(_ key: String) -> Bool {
        guard let entries = PropertyListEntries(of: list) else { return false }
        return (0..<entries.count).contains { entries.key(at: $0) == key }
    }

    package var mark: Int { list.byteOffset(of: next) }

    package func place(of mark: Int) -> DocumentError.Place? {
        guard let place = xml?.place(ofByte: mark) else { return nil }
        return .init(line: place.line, column: place.column)
    }

    package mutating func nextKey() throws(DocumentError) -> String? {
        guard case .dictionary(let entries, let position) = levels.popLast() else {
            preconditionFailure("No dictionary was entered.")
        }
        guard position < entries.count else { return nil }
        levels.append(.dictionary(entries, next: position + 1))
        next = entries.value(at: position)
        guard let key = entries.key(at: position) else {
            throw DocumentError(
                "The key has an unpaired surrogate, which no key can have.", at: place)
        }
        return key
    }

    package mutating func enterDictionary() throws(DocumentError) -> Bool {
        guard let entries = PropertyListEntries(of: list, at: next) else { return false }
        levels.append(.dictionary(entries, next: 0))
        return true
    }

    package mutating func enterArray() throws(DocumentError) -> Bool {
        guard case .array(let elements) = list.value(at: next) else { return false }
        levels.append(.array(elements, next: 0))
        return true
    }

    package mutating func nextElement() throws(DocumentError) -> Bool {
        guard case .array(let elements, let position) = levels.popLast() else {
            preconditionFailure("No array was entered.")
        }
        guard position < elements.count else { return false }
        levels.append(.array(elements, next: position + 1))
        next = list.element(position, of: elements)
        return true
    }

    package func word() -> String? {
        guard let entries = PropertyListEntries(of: list, at: next) else { return nil }
        return (0..<entries.count).lazy.compactMap { entries.key(at: $0) }
            .first { DocumentWord(rawValue: $0) != nil }
    }

    package mutating func value() throws(DocumentError) -> KeyedArchive {
        guard var entries = PropertyListEntries(of: list) else {
            preconditionFailure("The root is a dictionary.")
        }
        entries.readsSpellings = true
        if let word = wordBelow(next) { throw .misplaced(word, at: place) }
        do {
            return try entries.archive(of: next, limits: .ofDocument)
        } catch let error as ArchiveError {
            // The offset is one in a copy of the archive.
            throw DocumentError(error.message, at: place)
        } catch {
            throw DocumentError("\(error)", at: place)
        }
    }

    package mutating func skipValue() throws(DocumentError) {}

    /// A word in a dictionary inside a value, where it means nothing.
    private func wordBelow(_ root: ObjectIndex) -> String? {
        var (waiting, seen): ([ObjectIndex], Set<ObjectIndex>) = ([root], [])
        while let index = waiting.popLast() {
            guard seen.insert(index).inserted else { continue }
            switch list.value(at: index) {
            case .array(let elements), .set(let elements), .orderedSet(let elements):
                waiting += list.elements(of: elements)
            case .dictionary(let keys, let values):
                let names = list.elements(of: keys).compactMap { list.text(at: $0)?.string }
                if let word = names.first(where: { DocumentWord(rawValue: $0) != nil }) {
                    return word
                }
                waiting += list.elements(of: values)
            default: break
            }
        }
        return nil
    }
}
