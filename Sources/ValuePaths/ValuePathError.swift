internal import KeyedArchive
internal import Wording

/// Why a path cannot be parsed, leads nowhere, or cannot be changed.
package struct ValuePathError: Error, Hashable {
    /// The kind of the error, for programs.
    package struct Code: Hashable, Sendable {
        /// The code's name, for messages and tests.
        package let name: String

        /// The text is not a path.
        package static let syntax = Code(name: "syntax")
        /// There is no part with this name, or no element with this number.
        package static let notFound = Code(name: "notFound")
        /// The value has no parts, or is nil.
        package static let noParts = Code(name: "noParts")
        /// The parts of the value have numbers and the step is a name, or the reverse.
        package static let wrongStep = Code(name: "wrongStep")
        /// The part cannot be set or removed.
        package static let notEditable = Code(name: "notEditable")
        /// The value is not allowed at this place.
        package static let badValue = Code(name: "badValue")
    }

    /// The kind of the error.
    package let code: Code
    /// The number of the step that fails, from 1.
    ///
    /// It is 0 for the whole value, and nil if the text is not a path.
    package let step: Int?
    /// The column of the error, from 1 in code points, if the text is not a path.
    package let column: Int?
    /// A sentence that says what is wrong.
    ///
    /// It contains steps of the path, but never a stored value.
    package let message: String

    init(_ code: Code, step: Int? = nil, column: Int? = nil, _ message: String) {
        self.code = code
        self.step = step
        self.column = column
        self.message = message
    }
}

extension ValuePathError: CustomStringConvertible {
    /// The message.
    package var description: String { message }
}

/// The messages of these errors.
extension ValuePathError {
    static func misspelled(_ fault: String, column: Int) -> ValuePathError {
        ValuePathError(.syntax, column: column, "The path is wrong at column \(column): \(fault).")
    }

    /// - Parameter path: The path. The message names the value at its first `count` steps.
    static func noParts(_ path: ValuePath, after count: Int, _ kind: ValueKind) -> ValuePathError {
        ValuePathError(
            .noParts, step: count, "\(value(path, count)) is \(kind.words), which has no parts.")
    }

    static func needsIndex(_ path: ValuePath, after count: Int, _ kind: ValueKind)
        -> ValuePathError
    {
        ValuePathError(
            .wrongStep, step: count + 1,
            "\(value(path, count)) is \(kind.words), whose parts have numbers: "
                + "[0] is the first, [-1] the last; it has no \(step(path, count)).")
    }

    static func needsName(_ path: ValuePath, after count: Int, _ kind: ValueKind) -> ValuePathError
    {
        ValuePathError(
            .wrongStep, step: count + 1,
            "\(value(path, count)) is \(kind.words), whose parts have names; "
                + "it has no \(step(path, count)).")
    }

    static func noName(_ path: ValuePath, after count: Int, _ kind: ValueKind) -> ValuePathError {
        ValuePathError(
            .notFound, step: count + 1,
            "\(value(path, count)) is \(kind.words) that has no \(step(path, count)).")
    }

    static func noIndex(_ path: ValuePath, after count: Int, _ kind: ValueKind, has elements: Int)
        -> ValuePathError
    {
        ValuePathError(
            .notFound, step: count + 1,
            "\(value(path, count)) is \(kind.words) of "
                + "\(counted(elements, "element")); it has no \(step(path, count)).")
    }

    static func cannotAdd(_ path: ValuePath) -> ValuePathError {
        ValuePathError(
            .notEditable, step: path.steps.count,
            "\(value(path, path.steps.count)) cannot be added: a field's name can only begin "
                + "with $ if a number or another $ follows.")
    }

    static func classIsNoPart(_ path: ValuePath, after count: Int) -> ValuePathError {
        ValuePathError(
            .notEditable, step: count + 1,
            "\(value(path, count)) is an object; a path cannot lead to its $class."
        )
    }

    static func setHasNoPlaces(_ path: ValuePath) -> ValuePathError {
        ValuePathError(
            .notEditable, step: path.steps.count,
            "\(value(path, path.steps.count - 1)) is a set, whose elements have no order; "
                + "set it whole, or its \"NS.objects\".")
    }

    static func cannotRemove(_ path: ValuePath) -> ValuePathError {
        let count = path.steps.count
        return ValuePathError(
            .notEditable, step: count,
            count == 0
                ? "The whole value cannot be removed by a path; remove its key."
                : "\(value(path, count)) is the list of its collection's elements; "
                    + "remove single elements, or the collection.")
    }

    static func lastOfTop(_ path: ValuePath) -> ValuePathError {
        ValuePathError(
            .notEditable, step: path.steps.count,
            "\(value(path, path.steps.count)) is the only value of the archive; remove its key.")
    }

    static let severalValues = ValuePathError(
        .notEditable, step: 0,
        "The archive's values have names ($top); begin the path with one of them.")

    static let valueHasTop = ValuePathError(
        .badValue, step: 0,
        "The new value is an archive whose values have names ($top); it cannot be part of another.")

    static let valueHasNoNil = ValuePathError(
        .badValue, step: 0,
        "The new value has a class or an object in the place of nil; it cannot be part of "
            + "another archive.")

    static func needsArray(_ path: ValuePath, count: Int?) -> ValuePathError {
        ValuePathError(
            .badValue, step: path.steps.count,
            "\(value(path, path.steps.count)) can only be set to an array"
                + (count.map {
                    " of \(counted($0, "element")), because it has as many keys as values."
                } ?? "."))
    }

    static func tooDeep(_ cause: ArchiveError) -> ValuePathError {
        ValuePathError(.badValue, "The value cannot be set there: \(cause.message)")
    }

    /// The value at the first `count` steps.
    private static func value(_ path: ValuePath, _ count: Int) -> String {
        count == 0 ? "The value" : "'\(ValuePath(Array(path.steps.prefix(count))))'"
    }

    /// The step after the first `count`.
    private static func step(_ path: ValuePath, _ count: Int) -> String {
        switch path.steps[count] {
        case .name: "'\(path.steps[count])'"
        case .index: "element \(path.steps[count])"
        }
    }
}

/// The kind of a value, for messages.
enum ValueKind {
    case null, boolean, number, string, data, date, classRecord
    case array, set, orderedSet, dictionary, object, top

    var words: StaticString {
        switch self {
        case .null: "nil"
        case .boolean: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .data: "data"
        case .date: "a date"
        case .classRecord: "a class"
        case .array: "an array"
        case .set: "a set"
        case .orderedSet: "an ordered set"
        case .dictionary: "a dictionary"
        case .object: "an object"
        case .top: "an archive"
        }
    }
}
