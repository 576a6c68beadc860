import TestSupport

/// Choices that cost one number each, so that an input leads to the same ones for good.
extension SeededGenerator {
    /// A number from 0 to `count` - 1; 0 if there is none.
    mutating func below(_ count: Int) -> Int {
        count > 0 ? Int(next() % UInt64(count)) : 0
    }

    mutating func byte() -> UInt8 {
        UInt8(truncatingIfNeeded: next())
    }

    mutating func element<Element>(of elements: [Element]) -> Element {
        elements[below(elements.count)]
    }
}
