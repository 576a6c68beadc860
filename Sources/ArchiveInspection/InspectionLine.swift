package import KeyedArchive

/// A line that shows a part of an archive to people, in pieces that can have colours.
///
/// All of it is printable. Control characters of foreign strings are escaped.
package struct InspectionLine: Hashable, Sendable {
    /// What a piece of a line is.
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
        /// Counts, lengths, and what else is not in the archive itself.
        case note
    }

    /// A piece of a line.
    package struct Span: Hashable, Sendable {
        /// The characters.
        package let text: String
        /// What they are.
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

/// Something that is shown line by line.
///
/// ```swift
/// var tree = ArchiveTree(of: archive)
/// while let line = try tree.next() { print(line) }
/// ```
package protocol InspectionListing {
    /// The next line, or nil after the last.
    ///
    /// - Throws: ``ArchiveError`` if all lines together are larger than the limit.
    mutating func next() throws(ArchiveError) -> InspectionLine?
}

/// How an archive is shown to people.
package struct InspectionOptions: Hashable, Sendable {
    /// Whether the lines of the tree are drawn with ASCII characters.
    package var linesAreASCII = false
    /// Whether characters of strings that are not ASCII are shown as escapes.
    package var stringsAreASCII = false
    /// Whether keyed archives inside data are shown too, those inside of these among them.
    package var opensArchives = false
    /// About the most bytes that are written, in addition to 32 for each byte of the archive.
    package var limit = 64 << 20

    /// Makes the options that show all that can be shown in UTF-8, but not what is inside data.
    package init() {}

    /// The most bytes that are written of an archive.
    func limit(for archive: KeyedArchive) -> Int {
        let (sum, overflow) = limit.addingReportingOverflow(32 * archive.bytes.count)
        return overflow ? .max : sum
    }
}
