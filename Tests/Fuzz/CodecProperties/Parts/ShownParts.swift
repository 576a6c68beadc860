import KeyedArchive
import PropertyList
import ValuePaths

/// A sink that notes where in a value each part of it was shown, and as what.
struct ShownParts: ValueFormSink {
    enum Event: Equatable {
        case null
        case boolean(Bool)
        case integer(Int128)
        case real(UInt64)
        case date(UInt64)
        case string(Text)
        case data([UInt8])
        case bytes([UInt8])
        case reference
        case key(Text)
        case beginArray, endArray, beginDictionary, endDictionary
    }

    /// A part, with the steps to it; an element of an array is also reached from the end.
    struct Part {
        let path: ValuePath
        var pathFromEnd: ValuePath?
        /// Where its events are.
        var events: Range<Int>
    }

    private struct Frame {
        let part: Int
        var step: ValuePath.Step
        var elements: [Int] = []
    }

    private(set) var parts: [Part] = []
    private(set) var events: [Event] = []
    private var stack: [Frame] = []

    mutating func null() { add(.null) }
    mutating func boolean(_ value: Bool) { add(.boolean(value)) }
    mutating func integer(_ value: Int128) { add(.integer(value)) }
    mutating func real(_ value: Double) { add(.real(value.bitPattern)) }
    mutating func string(_ value: Text) { add(.string(value)) }
    mutating func data(_ value: ArraySlice<UInt8>) { add(.data(Array(value))) }
    mutating func bytes(_ value: ArraySlice<UInt8>) { add(.bytes(Array(value))) }
    mutating func date(_ secondsSince2001: Double) { add(.date(secondsSince2001.bitPattern)) }
    mutating func reference(to uid: UInt64) { add(.reference) }
    mutating func beginArray() { begin(.beginArray, .index(-1)) }
    mutating func beginDictionary() { begin(.beginDictionary, .name("")) }
    mutating func endDictionary() { end(.endDictionary) }

    mutating func key(_ key: Text) {
        events.append(.key(key))
        stack[stack.count - 1].step = .name(key)
    }

    mutating func endArray() {
        let elements = stack.last?.elements ?? []
        for (position, part) in elements.enumerated() {
            let steps = parts[part].path.steps.dropLast() + [.index(position - elements.count)]
            parts[part].pathFromEnd = ValuePath(Array(steps))
        }
        end(.endArray)
    }

    private mutating func add(_ event: Event) {
        let start = events.count
        if let frame = stack.last, case .index(let position) = frame.step {
            stack[stack.count - 1].step = .index(position + 1)
            stack[stack.count - 1].elements.append(parts.count)
        }
        events.append(event)
        parts.append(Part(path: ValuePath(stack.map(\.step)), events: start..<start + 1))
    }

    private mutating func begin(_ event: Event, _ step: ValuePath.Step) {
        add(event)
        stack.append(Frame(part: parts.count - 1, step: step))
    }

    private mutating func end(_ event: Event) {
        events.append(event)
        guard let frame = stack.popLast() else { preconditionFailure("Nothing was begun.") }
        parts[frame.part].events = parts[frame.part].events.lowerBound..<events.count
    }
}

extension ShownParts {
    /// The events of a part as a value of its own, where inline bytes are data and a number object is
    /// a number; nil where it shows an object inside itself, whose UID and extent are others then.
    func value(of part: Part) -> [Event]? {
        let events = Array(events[part.events])
        guard !events.contains(.reference) else { return nil }
        if case .bytes(let bytes)? = events.first { return [.data(bytes)] }
        let number: [Event] = [
            .beginDictionary, .key("$class"), .string("NSNumber"), .key("$value"),
        ]
        return events.count == 6 && events.starts(with: number) ? [events[4]] : events
    }
}
