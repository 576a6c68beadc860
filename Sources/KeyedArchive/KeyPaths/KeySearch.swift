internal import PropertyList

/// The search for a dictionary's key by its text.
///
/// Many keys may be one string, or objects that share one; each string is compared once.
struct KeySearch {
    private let archive: KeyedArchive
    private let name: Text
    private let codeUnits: [UInt16]
    /// Strings, and data that is the content of one, that are not the name.
    private var others: Set<ObjectIndex> = []

    init(for name: Text, in archive: KeyedArchive) {
        self.name = name
        self.archive = archive
        codeUnits = name.codeUnits
    }

    /// Where the first key is that is this text.
    mutating func first(in keys: Elements) -> Int? {
        for position in 0..<keys.count
        where isName(keys.element(position, in: archive.list)) { return position }
        return nil
    }

    private mutating func isName(_ key: ObjectIndex) -> Bool {
        let list = archive.list
        guard let content = archive.contentOfKey(key) else { return false }
        switch list.value(at: content) {
        case .string(let range):
            guard range.count == codeUnits.count, !others.contains(content) else { return false }
            if list.isEqual(range, to: codeUnits) { return true }
        case .data(let range):
            guard let string = name.string, range.count == string.utf8.count,
                !others.contains(content)
            else { return false }
            if list.data(of: range).elementsEqual(string.utf8) { return true }
        default:
            return false
        }
        others.insert(content)
        return false
    }
}

extension KeyedArchive {
    /// The string that a key is, or the string or data that a key holds which is an NSString.
    fileprivate func contentOfKey(_ key: ObjectIndex) -> ObjectIndex? {
        let isReference = if case .uid = list.value(at: key) { true } else { false }
        let key = target(of: key)
        if list.string(at: key) != nil { return key }
        // What stands inline is no object, whatever its entries are called.
        guard isReference, let fields = Fields(of: list, at: key), fields.count == 2,
            fields["$class", in: list] != nil
        else { return nil }
        let name = className(of: fields)
        guard list.isEqual(name, to: "NSString") || list.isEqual(name, to: "NSMutableString") else {
            return nil
        }
        return (fields["NS.string", in: list] ?? fields["NS.bytes", in: list]).map(target)
    }

    /// Whether a dictionary with these keys is shown as one: all are strings, all different, and
    /// none begins with `$`.
    ///
    /// Keys that make more text than the archive has bytes are not.
    func hasPlainKeys(_ keys: Elements) -> Bool {
        var budget = bytes.count
        var texts: Set<Text> = []
        for position in 0..<keys.count {
            guard budget >= 0, let text = text(ofKey: keys.element(position, in: list)) else {
                return false
            }
            budget -= text.byteCount
            guard !text.hasPrefix("$"), texts.insert(text).inserted else { return false }
        }
        return true
    }
}

extension ElementList {
    var isSet: Bool { kind == .set || kind == .orderedSet }

    /// The same elements, as the array that they are by their own name.
    var asArray: ElementList {
        ElementList(holder: holder, kind: .array, storage: storage, elements: elements)
    }
}
