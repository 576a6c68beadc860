internal import CYAML
internal import OwnedDocuments

/// The nodes of a document in YAML, which refer to each other by number.
///
/// Invariants:
/// 1. There are no cycles: an alias refers to a node that is complete.
/// 2. The nodes, with those of aliases at each of their places, are at most ``mostNodes``. So a small text
///    cannot become a large value.
struct YAMLTree {
    /// Where a node begins, counted from 1.
    typealias Place = DocumentError.Place

    enum Content {
        case scalar(YAMLScalar)
        case sequence([Int])
        case mapping([Entry])
    }

    struct Entry {
        let key: String
        let place: Place
        let value: Int
    }

    struct Node {
        var content: Content
        let place: Place
        /// How many nodes it has, with its own.
        var size: Int
    }

    static let mostNodes = 4 << 20
    private static let mostLevels = 1000

    private(set) var nodes: [Node] = []
    private(set) var root = 0

    private var anchors: [String: Int] = [:]
    /// The collections that are not complete, the outermost first.
    private var open: [Open] = []

    private struct Open {
        let node: Int
        let isMapping: Bool
        var elements: [Int] = []
        var entries: [Entry] = []
        var keys: Set<String> = []
        /// The key whose value comes next.
        var key: (name: String, place: Place)?
    }

    /// - Throws: `DocumentError` with the place of the first fault.
    init(_ text: [UInt8]) throws(DocumentError) {
        guard let library = LibYAML.loaded else {
            throw DocumentError(
                "Documents in YAML need the library libyaml. Install the package libyaml-0-2.",
                at: nil)
        }
        guard !text.isEmpty else { throw DocumentError("The text has no value.", at: nil) }
        // The parser has its own address in it.
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        defer { parser.deallocate() }
        parser.initialize(to: yaml_parser_t())
        guard library.initialize(parser) != 0 else {
            throw DocumentError("There is no memory for reading YAML.", at: nil)
        }
        defer { library.deleteParser(parser) }
        var failure: DocumentError?
        text.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return }
            library.setInput(parser, start, bytes.count)
            do throws(DocumentError) {
                try read(parser, library)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    private mutating func read(
        _ parser: UnsafeMutablePointer<yaml_parser_t>, _ library: LibYAML
    ) throws(DocumentError) {
        var (documents, isEnded) = (0, false)
        while !isEnded {
            var event = yaml_event_t()
            guard library.parse(parser, &event) != 0 else {
                throw Self.failure(of: parser.pointee)
            }
            defer { library.deleteEvent(&event) }
            let place = Place(event.start_mark)
            switch event.type {
            case YAML_STREAM_END_EVENT: isEnded = true
            case YAML_DOCUMENT_START_EVENT:
                documents += 1
                guard documents == 1 else {
                    throw DocumentError(
                        "A second document begins here. Use one file for each.", at: place)
                }
            case YAML_SCALAR_EVENT:
                let scalar = try YAMLScalar(event, at: place)
                try take(scalar, anchor: text(event.data.scalar.anchor), at: place)
            case YAML_SEQUENCE_START_EVENT:
                try checkTag(event.data.sequence_start.tag, at: place)
                try begin(false, anchor: text(event.data.sequence_start.anchor), at: place)
            case YAML_MAPPING_START_EVENT:
                try checkTag(event.data.mapping_start.tag, at: place)
                try begin(true, anchor: text(event.data.mapping_start.anchor), at: place)
            case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: try end()
            case YAML_ALIAS_EVENT:
                let name = text(event.data.alias.anchor) ?? ""
                guard let node = anchors[name] else {
                    throw DocumentError("No complete value has the anchor '\(name)'.", at: place)
                }
                guard open.last.map({ !$0.isMapping || $0.key != nil }) ?? false else {
                    throw DocumentError("An alias cannot be a key here.", at: place)
                }
                try add(node, at: place)
            default: break
            }
        }
        guard !nodes.isEmpty else { throw DocumentError("The text has no value.", at: nil) }
    }

    private static func failure(of parser: yaml_parser_t) -> DocumentError {
        let problem = parser.problem.map { String(cString: $0) } ?? "it is not YAML"
        let context = parser.context.map { " " + String(cString: $0) } ?? ""
        let place = parser.error == YAML_READER_ERROR ? nil : Place(parser.problem_mark)
        return DocumentError("The text is not YAML: \(problem)\(context).", at: place)
    }

    private func checkTag(
        _ tag: UnsafeMutablePointer<UInt8>?, at place: Place
    ) throws(DocumentError) {
        guard let tag = text(tag) else { return }
        throw DocumentError(
            "The tag '\(tag)' is not known here; only !!str and !!binary are.", at: place)
    }

    // MARK: Building

    private mutating func take(
        _ scalar: YAMLScalar, anchor: String?, at place: Place
    ) throws(DocumentError) {
        if let last = open.indices.last, open[last].isMapping, open[last].key == nil {
            return try takeKey(scalar, at: place)
        }
        let node = try newNode(.scalar(scalar), at: place)
        if let anchor { anchors[anchor] = node }
        try add(node, at: place)
    }

    private mutating func takeKey(_ scalar: YAMLScalar, at place: Place) throws(DocumentError) {
        guard scalar.text != "<<" || !scalar.isPlain else {
            throw DocumentError(
                "Merge keys (<<) are not of YAML 1.2. Write the entries out.", at: place)
        }
        let last = open.count - 1
        guard open[last].keys.insert(scalar.text).inserted else {
            throw DocumentError("The key is in the same mapping twice.", at: place)
        }
        open[last].key = (scalar.text, place)
    }

    private mutating func begin(
        _ isMapping: Bool, anchor: String?, at place: Place
    ) throws(DocumentError) {
        guard open.count < Self.mostLevels else {
            throw DocumentError(
                "There are more than \(Self.mostLevels) values inside each other.", at: place)
        }
        if let last = open.last, last.isMapping, last.key == nil {
            throw DocumentError("A key has to be a text, and not a list or a mapping.", at: place)
        }
        let node = try newNode(isMapping ? .mapping([]) : .sequence([]), at: place)
        open.append(Open(node: node, isMapping: isMapping))
        // An anchor counts only when its value is complete (1).
        if let anchor { waiting[node] = anchor }
    }

    /// The anchors of collections that are not complete.
    private var waiting: [Int: String] = [:]

    private mutating func end() throws(DocumentError) {
        guard let last = open.popLast() else { return }
        nodes[last.node].content =
            last.isMapping ? .mapping(last.entries) : .sequence(last.elements)
        if let anchor = waiting.removeValue(forKey: last.node) { anchors[anchor] = last.node }
        try add(last.node, at: nodes[last.node].place)
    }

    private mutating func newNode(
        _ content: Content, at place: Place
    ) throws(DocumentError) -> Int {
        nodes.append(Node(content: content, place: place, size: 1))
        try checkSize(nodes.count, at: place)
        return nodes.count - 1
    }

    private mutating func add(_ node: Int, at place: Place) throws(DocumentError) {
        guard let last = open.indices.last else {
            root = node
            return
        }
        let holder = open[last].node
        nodes[holder].size += nodes[node].size
        try checkSize(nodes[holder].size, at: place)
        if let key = open[last].key {
            open[last].entries.append(Entry(key: key.name, place: key.place, value: node))
            open[last].key = nil
        } else {
            open[last].elements.append(node)
        }
    }

    private func checkSize(_ size: Int, at place: Place) throws(DocumentError) {
        guard size <= Self.mostNodes else {
            throw DocumentError(
                "With what its aliases mean, the text has more than \(Self.mostNodes) values.",
                at: place)
        }
    }
}

extension DocumentError.Place {
    init(_ mark: yaml_mark_t) {
        self.init(line: mark.line + 1, column: mark.column + 1)
    }
}

/// A string of libyaml.
func text(_ bytes: UnsafeMutablePointer<UInt8>?) -> String? {
    bytes.map { String(cString: $0) }
}
