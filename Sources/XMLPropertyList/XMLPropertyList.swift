package import PropertyList

/// A property list that was read from XML: the same in binary, and where its objects stand in the
/// text.
///
/// Invariants:
///
/// 1. The binary form is what ``PropertyListWriter`` writes of the elements in their order, so the
///    same document always gives the same bytes. Equal scalars are one object in it; a value whose
///    key came again is an object that nothing refers to.
/// 2. A dictionary whose one key is `CF$UID`, with an integer, is a reference of a keyed archive,
///    and nothing else is.
/// 3. What readers of XML property lists understand differently is refused: numbers with other
///    characters in them, entities of the document's own, attributes. Of equal keys the last one
///    counts, in the place of the first.
///
/// ```swift
/// let document = try XMLPropertyList(text)
/// let archive = try KeyedArchive(validating: document.binary)
/// ```
package struct XMLPropertyList: Sendable {
    /// What a document holds.
    struct Content {
        let binary: [UInt8]
        let places: [XMLPlace]
        let rootKeyPlaces: [XMLPlace]
        let repeatedKey: XMLPlace?
    }

    /// The same property list in binary.
    package let binary: [UInt8]
    /// Where the first repeated key of a dictionary is.
    package let repeatedKey: XMLPlace?
    /// Where the keys of the outermost dictionary are, in the order of the binary form.
    ///
    /// A repeated key is at the place of its first use. Empty if the outermost value is not a
    /// dictionary.
    package let rootKeyPlaces: [XMLPlace]
    /// Where the objects are in the text, in the order of the binary form.
    private let places: [XMLPlace]

    /// Reads a property list in XML, in any encoding that expat knows: UTF-8, UTF-16, ISO 8859-1
    /// and ASCII.
    ///
    /// Like CoreFoundation, it accepts white space before the document, and a value without its
    /// `<plist>`. Control characters in strings, which macOS writes as they are and XML does not
    /// allow, are accepted if the document is in UTF-8.
    ///
    /// - Throws: ``XMLPropertyListError`` with the place of the first fault.
    package init(
        _ text: [UInt8], limits: PropertyList.Limits = .standard
    ) throws(XMLPropertyListError) {
        guard text.count <= limits.byteCount else {
            throw .tooLarge(byteCount: text.count, limit: limits.byteCount)
        }
        let parser = ExpatParser(DocumentText(text), limits: limits)
        let content = try parser.parse()
        (binary, places) = (content.binary, content.places)
        (rootKeyPlaces, repeatedKey) = (content.rootKeyPlaces, content.repeatedKey)
    }

    /// The place in the text of the object that has a byte of the binary form.
    ///
    /// Of equal scalars, which are one object there, it is the first. A byte before the objects
    /// gives the place of the root, one after them that of the last.
    package func place(ofByte offset: Int) -> XMLPlace {
        let unlimited = PropertyList.Limits(
            byteCount: .max, objectCount: .max, depth: .max)
        guard let list = try? PropertyList(binary, limits: unlimited) else {
            preconditionFailure("The property list that was written is not valid.")
        }
        // Objects are written one after the other in the order of their numbers.
        var place = places[list.root.position]
        for index in list.indices where list.byteOffset(of: index) <= offset {
            place = places[index.position]
        }
        return place
    }

    /// Whether bytes begin as a property list in XML does, rather than a binary one.
    package static func isXML(_ bytes: [UInt8]) -> Bool {
        let byteOrderMarks: [[UInt8]] = [[0xEF, 0xBB, 0xBF], [0xFE, 0xFF], [0xFF, 0xFE]]
        let mark = byteOrderMarks.first { bytes.starts(with: $0) } ?? []
        // Of ASCII characters in UTF-16, one byte is zero.
        let first = bytes.dropFirst(mark.count).first { byte in
            byte != 0 && byte != 0x20 && !(0x09...0x0D).contains(byte)
        }
        return first == UInt8(ascii: "<")
    }
}
