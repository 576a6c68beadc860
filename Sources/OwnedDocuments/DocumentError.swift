/// Why a document cannot be read, and where the fault is.
package struct DocumentError: Error, Sendable {
    /// A place in the text, counted from 1; the column in code points.
    package struct Place: Hashable, Sendable {
        package let line: Int
        package let column: Int

        package init(line: Int, column: Int) {
            self.line = line
            self.column = column
        }
    }

    /// Where it is; nil in a binary property list.
    package let place: Place?
    /// A sentence that says what is wrong.
    package let message: String

    package init(_ message: String, at place: Place?) {
        self.message = message
        self.place = place
    }
}

extension DocumentError: CustomStringConvertible {
    package var description: String {
        guard let place else { return message }
        return "\(message) (line \(place.line), column \(place.column))"
    }
}
