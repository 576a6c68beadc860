import KeyedArchive
import PropertyList

/// Takes a value that is one string, and refuses every other by throwing.
struct LoneString: ChoosySink {
    private(set) var text: Text?

    mutating func string(_ value: Text) { text = value }
}
