import DBus
package import DefaultsTerms

/// On whose behalf a program makes a change, as the history notes it: the option `by` of transactions.
///
/// From a program in a sandbox it is ignored.
package struct ChangeSponsor: Sendable, Hashable {
    /// The name of the option.
    package static let option = "by"

    /// The most bytes of the name of a machine or an owner.
    private static let longestName = 255

    /// What kind of action it is: `document` or `roam`.
    package var kind: HistoryTerms.Kind
    /// The machine that it came from; empty for this one.
    package var machine: String
    /// The owner of the document; empty if there is none.
    package var owner: String

    /// Names who is behind a change.
    ///
    /// The end of a longer name than 255 bytes is cut.
    package init(kind: HistoryTerms.Kind, machine: String = "", owner: String = "") {
        self.kind = kind
        self.machine = Self.cut(machine)
        self.owner = Self.cut(owner)
    }

    private static func cut(_ name: String) -> String {
        var name = name
        while name.utf8.count > longestName { name.removeLast() }
        return name
    }

    /// The kinds that a caller may name; the others are the service's own.
    private static let kinds: Set<HistoryTerms.Kind> = [.document, .roam]

    init(from reader: inout MessageReader) throws {
        self.init(kind: .change)
        for (name, text) in try reader.readDictionary({
            (try $0.readString(), try $0.readString())
        }) {
            guard text.utf8.count <= Self.longestName else {
                throw ContractError(
                    option: Self.option, isNot: "a dictionary with short texts (a{ss})")
            }
            switch name {
            case "machine": machine = text
            case "owner": owner = text
            case "kind":
                guard let kind = HistoryTerms.Kind(rawValue: text), Self.kinds.contains(kind) else {
                    throw ContractError(
                        option: Self.option, isNot: "a dictionary whose kind is document or roam")
                }
                self.kind = kind
            default:
                throw ContractError(
                    unknownOption: "by: \(name)",
                    known: ["by: kind", "by: machine", "by: owner"])
            }
        }
    }

    func write(to writer: inout MessageWriter) throws {
        let entries = [("kind", kind.rawValue), ("machine", machine), ("owner", owner)]
        try writer.writeDictionary(key: "s", value: "s") {
            for (name, text) in entries where !text.isEmpty {
                try $0.writeEntry {
                    try $0.writeString(name)
                    try $0.writeString(text)
                }
            }
        }
    }
}
