import KeyedArchive
import PropertyList

/// A sink that checks the order of the events, and notes what else was shown.
struct EventCheck: ValueFormSink {
    private enum Frame {
        case array
        /// A dictionary, the key that came last, and whether its value is still to come.
        case dictionary(last: Text?, isAfterKey: Bool)
    }

    /// Whether an object inside itself, or a class as a value, was shown: no input has those.
    private(set) var isOutputOnly = false
    /// Whether a real was shown that is no number: JSON does not keep all of its bits.
    private(set) var hasNaN = false
    private var stack: [Frame] = []
    private var isDone = false

    /// Whether one value came, whole.
    var isWhole: Bool { isDone && stack.isEmpty }

    mutating func null() throws { try value() }
    mutating func boolean(_ value: Bool) throws { try self.value() }
    mutating func integer(_ value: Int128) throws { try self.value() }
    mutating func string(_ value: Text) throws { try self.value() }
    mutating func data(_ value: ArraySlice<UInt8>) throws { try self.value() }
    mutating func bytes(_ value: ArraySlice<UInt8>) throws { try self.value() }

    mutating func real(_ value: Double) throws {
        hasNaN = hasNaN || value.isNaN
        try self.value()
    }

    mutating func date(_ secondsSince2001: Double) throws { try real(secondsSince2001) }

    mutating func reference(to uid: UInt64) throws {
        isOutputOnly = true
        try value()
    }

    mutating func beginArray() throws {
        try value()
        stack.append(.array)
    }

    mutating func endArray() throws {
        guard case .array? = stack.popLast() else {
            throw Violation(description: "An array ended that had not begun.")
        }
    }

    mutating func beginDictionary() throws {
        try value()
        stack.append(.dictionary(last: nil, isAfterKey: false))
    }

    mutating func key(_ key: Text) throws {
        guard case .dictionary(let last, false)? = stack.popLast() else {
            throw Violation(description: "A key came unexpectedly.")
        }
        if let last { try require(last < key, "The keys are not in order, or one came twice.") }
        if key == "$classdef" { isOutputOnly = true }
        stack.append(.dictionary(last: key, isAfterKey: true))
    }

    mutating func endDictionary() throws {
        guard case .dictionary(_, false)? = stack.popLast() else {
            throw Violation(description: "A dictionary ended that had not begun, or after a key.")
        }
    }

    private mutating func value() throws {
        switch stack.popLast() {
        case .array:
            stack.append(.array)
        case .dictionary(let last, let isAfterKey):
            try require(isAfterKey, "A value came without its key.")
            stack.append(.dictionary(last: last, isAfterKey: false))
        case nil:
            try require(!isDone, "A second value came.")
            isDone = true
        }
    }
}
