package import KeyedArchive

/// A line that shows a part of an archive to people, in pieces that may have colours.
///
/// All of it is printable. Control characters in strings are escaped.
package struct InspectionLine: Hashable, Sendable {
    /// The kind of a piece.
    package enum Role: Hashable, Sendable {
        /// The lines of the tree, and punctuation.
        case structure
        /// The name of a field, the key of an entry, the number of an element.
        case label
        /// The name of a class.
        case className
        /// A string.
        case string
        /// A number, a boolean or nil.
        case number
        /// A date.
        case date
        /// Bytes.
        case data
        /// The number of an object: its UID.
        case reference
        /// Counts, lengths, and other text that is not in the archive itself.
        case note
    }

    /// A piece of a line.
    package struct Span: Hashable, Sendable {
        /// The characters.
        package let text: String
        /// The kind of the text.
        package let role: Role
    }

    /// The pieces from left to right.
    package private(set) var spans: [Span] = []

    init() {}

    mutating func append(_ text: String, _ role: Role) {
        if !text.isEmpty { spans.append(Span(text: text, role: role)) }
    }

    mutating func append(_ line: InspectionLine) {
        spans += line.spans
    }

    /// How many bytes the line has.
    var byteCount: Int { spans.reduce(1) { $0 + $1.text.utf8.count } }
}

extension InspectionLine: CustomStringConvertible {
    /// The line without colours.
    package var description: String { spans.map(\.text).joined() }
}

/// A list that is shown line by line.
///
/// ```swift
/// var tree = ArchiveTree(of: archive)
/// while let line = try tree.next() { print(line) }
/// ```
package protocol InspectionListing {
    /// The next line, or nil after the last.
    ///
    /// - Throws: ``ArchiveError`` if all lines together exceed the limit.
    mutating func next() throws(ArchiveError) -> InspectionLine?
}

/// How an archive is shown to people.
package struct InspectionOptions: Hashable, Sendable {
    /// Whether the lines of the tree are drawn with ASCII characters.
    package var linesAreASCII = false
    /// Whether characters of strings that are not ASCII are shown as escapes.
    package var stringsAreASCII = false
    /// Whether keyed archives inside data are shown, too, also inside each other.
    package var opensArchives = false
    /// The approximate limit of the output in bytes, in addition to 32 for each byte of the
    /// archive.
    package var limit = 64 << 20

    /// Makes the options that show everything in UTF-8, except archives inside data.
    package init() {}

    /// The most bytes that are written of an archive.
    func limit(for archive: KeyedArchive) -> Int {
        let (sum, overflow) = limit.addingReportingOverflow(32 * archive.bytes.count)
        return overflow ? .max : sum
    }
}
