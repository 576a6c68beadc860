package import DefaultsModel
import DefaultsProtocol
import DefaultsStorage

/// The size of names in a message.
package enum NamesSize {
    /// The size of a string: its length, its bytes, a NUL, and padding to four bytes.
    package static func size(of name: String) -> Int { overhead + name.utf8.count }

    /// The size of all keys of a domain.
    package static func size(of totals: KeyTotals) -> Int {
        overhead * totals.keys + totals.nameBytes
    }

    /// - Throws: `TooLarge` if the names do not fit.
    package static func check(_ names: [String], room: Int) throws {
        try check(names.count, size: size(of: names), room: room)
    }

    /// Whether names fit into a reply.
    package static func fits(_ names: [String], room: Int) -> Bool { size(of: names) <= room }

    private static func size(of names: [String]) -> Int { names.reduce(0) { $0 + size(of: $1) } }

    /// - Throws: `TooLarge` if this many names of this total size do not fit.
    package static func check(_ count: Int, size: Int, room: Int) throws {
        guard size <= room else { throw ContractError(tooLargeNames: count, size, room: room) }
    }

    private static let overhead = 8

    /// The size of the two numbers beside a name in the reply of `GetTimes`, with padding.
    package static let numbersOfTime = 24
}
