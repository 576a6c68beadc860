package import PropertyList

/// A property list that was read from XML: its binary form, and the places of its objects in the
/// text.
///
/// Invariants:
///
/// 1. ``PropertyListWriter`` makes the binary form from the elements in their order, so the same
///    document always gives the same bytes. Equal scalars are one object. If a key is repeated, its
///    first value is an object that nothing refers to.
/// 2. A dictionary with the single key `CF$UID` and an integer is a reference of a keyed archive.
///    Nothing else is.
/// 3. Whatever readers of XML property lists understand differently is refused: numbers with other
///    characters in them, and entities that the document declares. If a key is repeated, its last
///    value counts, at the position of the first.
/// 4. What CoreFoundation passes over is passed over: attributes, and comments, instructions and white
///    space before the declaration of XML. What it keeps is kept: carriage returns and control
///    characters in text.
///
/// ```swift
/// let document = try XMLPropertyList(text)
/// let archive = try KeyedArchive(validating: document.binary)
/// ```
package struct XMLPropertyList: Sendable {
    /// The contents of a document.
    struct Content {
        let binary: [UInt8]
        let places: [XMLPlace]
        let rootKeyPlaces: [XMLPlace]
        let repeatedKey: XMLPlace?
    }

    /// The same property list in binary.
    package let binary: [UInt8]
    /// The place of the first repeated key of a dictionary.
    package let repeatedKey: XMLPlace?
    /// The places of the keys of the outermost dictionary, in the order of the binary form.
    ///
    /// A repeated key has the place of its first use. The list is empty if the outermost value is
    /// not a dictionary.
    package let rootKeyPlaces: [XMLPlace]
    /// The places of the objects in the text, in the order of the binary form.
    private let places: [XMLPlace]

    /// Parses a property list in XML, in any encoding that expat knows: UTF-8, UTF-16, ISO 8859-1
    /// and ASCII.
    ///
    /// Like CoreFoundation, it accepts white space before the document, and a value without
    /// `<plist>`. If the document is in UTF-8, it also accepts control characters in strings. macOS
    /// writes them, although XML does not allow them.
    ///
    /// - Throws: ``XMLPropertyListError`` with the place of the first error.
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

    /// The place in the text of the object at an offset in the binary form.
    ///
    /// Equal scalars are one object there. The result is the place of the first one. An offset
    /// before the objects gives the place of the root, and one after them that of the last object.
    package func place(ofByte offset: Int) -> XMLPlace {
        let unlimited = PropertyList.Limits(
            byteCount: .max, objectCount: .max, depth: .max)
        guard let list = try? PropertyList(binary, limits: unlimited) else {
            preconditionFailure("The written property list is invalid.")
        }
        // Objects are written one after the other in the order of their numbers.
        var place = places[list.root.position]
        for index in list.indices where list.byteOffset(of: index) <= offset {
            place = places[index.position]
        }
        return place
    }

    /// Whether bytes begin like a property list in XML, rather than a binary one.
    package static func isXML(_ bytes: [UInt8]) -> Bool {
        let byteOrderMarks: [[UInt8]] = [[0xEF, 0xBB, 0xBF], [0xFE, 0xFF], [0xFF, 0xFE]]
        let mark = byteOrderMarks.first { bytes.starts(with: $0) } ?? []
        // In UTF-16, one byte of an ASCII character is zero.
        let first = bytes.dropFirst(mark.count).first { byte in
            byte != 0 && byte != 0x20 && !(0x09...0x0D).contains(byte)
        }
        return first == UInt8(ascii: "<")
    }
}
