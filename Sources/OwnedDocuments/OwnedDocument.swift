internal import DefaultsTerms
internal import KeyedArchive
internal import PropertyList
internal import ValuePaths

/// All that an owner wants.
///
/// ```json
/// { "$defaults": 1, "owner": "home-manager",
///   "domains": { "org.example.Game": { "PlaySound": true } },
///   "hosts": { "laptop": { "org.example.Game": { "Volume": 3 } } } }
/// ```
package struct OwnedDocument: Sendable {
    package let owner: Owner
    /// In the order of the text; each key is wished for once.
    package private(set) var wishes: [Wish] = []
    /// The keys that are to have no value, by their beginning.
    package private(set) var removals: [Removal] = []
    private var places: Set<KeyPlace> = []

    package init(of owner: Owner) {
        self.owner = owner
    }

    /// Whether it is for other machines, too.
    package fileprivate(set) var namesOtherHosts = false
    /// Whether all that it wants is for other machines.
    package var isForOtherHosts: Bool { namesOtherHosts && wishes.isEmpty && removals.isEmpty }

    /// Whether it wants nothing, of any machine.
    package var isEmpty: Bool { wishes.isEmpty && removals.isEmpty && !namesOtherHosts }

    /// The document on all machines but the one that it is for.
    package func ofOtherHost() -> OwnedDocument {
        var document = OwnedDocument(of: owner)
        document.namesOtherHosts = !isEmpty
        return document
    }

    /// Adds what another file of the owner wants.
    ///
    /// - Throws: ``DocumentError`` if both want something of one key.
    package mutating func add(_ other: OwnedDocument) throws(DocumentError) {
        for wish in other.wishes where !add(wish) {
            throw DocumentError(
                "\(wish.place.domain) has the key '\(wish.place.key)' in another file, too.",
                at: nil)
        }
        removals += other.removals
        namesOtherHosts = namesOtherHosts || other.namesOtherHosts
    }

    /// - Returns: False if it wants something of the key already.
    fileprivate mutating func add(_ wish: Wish) -> Bool {
        guard places.insert(wish.place).inserted else { return false }
        wishes.append(wish)
        return true
    }

    fileprivate mutating func add(_ removal: Removal) { removals.append(removal) }
}

/// Reads a document from its text.
package struct DocumentReader {
    private var source: any DocumentSource
    /// What this machine calls itself.
    private let host: String
    private var namesOtherHosts = false

    package init(_ source: any DocumentSource, onHost host: String) {
        self.source = source
        self.host = host
    }

    /// Reads a document with a header.
    ///
    /// - Throws: ``DocumentError`` with the place of the first fault.
    package mutating func document() throws(DocumentError) -> OwnedDocument {
        var (owner, version): (Owner?, Bool) = (nil, false)
        var (wishes, removals): ([(Wish, Int)], [Removal]) = ([], [])
        while let key = try source.nextKey() {
            let mark = source.mark
            switch key {
            case _ where DocumentWord.ofNotes.contains(key): try source.skipValue()
            case DocumentWord.defaults.rawValue:
                guard try integer() == 1 else {
                    throw DocumentError(
                        "This version of defaultsctl reads documents with \"$defaults\": 1 only.",
                        at: source.place(of: mark))
                }
                version = true
            case "owner":
                guard let name = try string(), let known = Owner(name) else {
                    throw DocumentError(
                        "The owner has to be a string of 1 to \(Owner.maximumLength) of the characters "
                            + "A-Z, a-z, 0-9 and ._/-.", at: source.place(of: mark))
                }
                owner = known
            case "domains": try readDomains(suffix: "", into: &wishes, &removals)
            case "hosts": try readHosts(into: &wishes, &removals)
            default:
                throw DocumentError(
                    "'\(key)' is not a member of a document. The members are $defaults, owner, domains, hosts, "
                        + "$schema and $comment.", at: source.place(of: mark))
            }
        }
        guard version else { throw DocumentError("The document has no \"$defaults\": 1.", at: nil) }
        guard let owner else {
            throw DocumentError(
                "The document has no \"owner\", the name of who wants these values.", at: nil)
        }
        var document = OwnedDocument(of: owner)
        document.namesOtherHosts = namesOtherHosts
        for (wish, mark) in wishes { try add(wish, at: mark, to: &document) }
        for removal in removals { document.add(removal) }
        return document
    }

    /// Reads a file that is one domain, as administrators write it.
    package mutating func domain(
        _ domain: String, of owner: Owner
    ) throws(DocumentError) -> OwnedDocument {
        guard domain.prefix(while: { $0 != "@" }) != AppliedTerms.domain else {
            throw DocumentError(
                "\(AppliedTerms.domain) keeps what documents own, and has no other values.", at: nil
            )
        }
        var (wishes, removals): ([(Wish, Int)], [Removal]) = ([], [])
        try readDomain(domain, into: &wishes, &removals)
        var document = OwnedDocument(of: owner)
        for (wish, mark) in wishes { try add(wish, at: mark, to: &document) }
        for removal in removals { document.add(removal) }
        return document
    }

    private func add(
        _ wish: Wish, at mark: Int, to document: inout OwnedDocument
    ) throws(DocumentError) {
        guard document.add(wish) else {
            throw DocumentError(
                "\(wish.place.domain) has the key '\(wish.place.key)' twice.",
                at: source.place(of: mark))
        }
    }

    // MARK: Domains

    private mutating func readHosts(
        into wishes: inout [(Wish, Int)], _ removals: inout [Removal]
    ) throws(DocumentError) {
        guard try source.enterDictionary() else {
            throw DocumentError("\"hosts\" has to be a dictionary.", at: source.place)
        }
        while let name = try source.nextKey() {
            if DocumentWord.ofNotes.contains(name) {
                try source.skipValue()
                continue
            }
            guard name.isHostName else {
                throw DocumentError("'\(name)' is not the name of a host.", at: source.place)
            }
            // Names of machines are the same in any case (RFC 4343).
            guard name.lowercased() == host.lowercased() else {
                // It is checked all the same: a fault shows on the first machine.
                var (others, patterns): ([(Wish, Int)], [Removal]) = ([], [])
                try readDomains(suffix: LayerName.host.suffix, into: &others, &patterns)
                namesOtherHosts = namesOtherHosts || !others.isEmpty || !patterns.isEmpty
                continue
            }
            try readDomains(suffix: LayerName.host.suffix, into: &wishes, &removals)
        }
    }

    private mutating func readDomains(
        suffix: String, into wishes: inout [(Wish, Int)],
        _ removals: inout [Removal]
    ) throws(DocumentError) {
        guard try source.enterDictionary() else {
            throw DocumentError("Domains have to be a dictionary.", at: source.place)
        }
        while let domain = try source.nextKey() {
            let mark = source.mark
            if DocumentWord.ofNotes.contains(domain) {
                try source.skipValue()
                continue
            }
            guard DomainRule.allows(domain) else {
                throw DocumentError(
                    "'\(domain)' is not a domain. A domain is an application ID, such as org.example.Game"
                        + (domain.contains("@")
                            ? "; what is for one machine stands below \"hosts\"." : "."),
                    at: source.place(of: mark))
            }
            if let name = CommandSpelling.domain(domain) {
                throw DocumentError(
                    "To commands, '\(domain)' means the domain \(name). Write that name here, too.",
                    at: source.place(of: mark))
            }
            guard !domain.hasPrefix("-") else {
                throw DocumentError(
                    "'\(domain)' is not a domain: a name that begins with a hyphen would be an option to commands.",
                    at: source.place(of: mark))
            }
            guard domain != AppliedTerms.domain else {
                throw DocumentError(
                    "\(domain) keeps what documents own, and has no other values.",
                    at: source.place(of: mark))
            }
            guard try source.enterDictionary() else {
                throw DocumentError(
                    "A domain has to be a dictionary of its keys.", at: source.place)
            }
            try readDomain(domain + suffix, into: &wishes, &removals)
        }
    }

    private mutating func readDomain(
        _ domain: String, into wishes: inout [(Wish, Int)],
        _ removals: inout [Removal]
    ) throws(DocumentError) {
        while let name = try source.nextKey() {
            let mark = source.mark
            switch DocumentWord(rawValue: name) {
            case .schema, .comment: try source.skipValue()
            case .remove:
                for pattern in try strings(of: .remove) {
                    if pattern == "*" {
                        removals.append(Removal(domain: domain, prefix: ""))
                    } else if pattern.hasSuffix("*") {
                        let prefix = try key(String(pattern.dropLast()), in: domain).key
                        removals.append(Removal(domain: domain, prefix: prefix))
                    } else {
                        let key = try key(pattern, in: domain)
                        wishes.append((Wish(key, .absence), mark))
                    }
                }
            case .once:
                guard try source.enterDictionary() else {
                    throw DocumentError(
                        "\"$once\" has to be a dictionary of keys.", at: source.place)
                }
                while let name = try source.nextKey() {
                    let (mark, key) = (source.mark, try key(name, in: domain))
                    if let word = source.word() {
                        throw .misplaced(word, at: source.place(of: mark))
                    }
                    wishes.append((Wish(key, .once(try value(of: key))), mark))
                }
            case .locked:
                throw DocumentError(
                    "Only files of administrators can lock keys; $locked cannot be in a document.",
                    at: source.place(of: mark))
            case .ensure, .without, .merge, .defaults:
                throw .misplaced(name, at: source.place(of: mark))
            case nil:
                let key = try key(name, in: domain)
                wishes.append((Wish(key, try demand(of: key)), mark))
            }
        }
    }

    /// A key as it is spelled: one that begins with `$` has another one before it.
    private func key(_ name: String, in domain: String) throws(DocumentError) -> KeyPlace {
        let isEscaped = name.hasPrefix("$$")
        guard isEscaped || !name.hasPrefix("$") else { throw .noWordOfKeys(name, at: source.place) }
        let name = isEscaped ? String(name.dropFirst()) : name
        guard KeyRule.allows(name) else {
            throw DocumentError(
                "A key has 1 to \(KeyRule.maximumLength) bytes, none of which is zero.",
                at: source.place)
        }
        return KeyPlace(domain: domain, key: name)
    }

    // MARK: Values

    /// The most merges inside each other, which are read by recursion.
    private static var mostMerges: Int { 64 }

    private mutating func demand(of key: KeyPlace) throws(DocumentError) -> Demand {
        guard let word = source.word() else { return .value(try value(of: key)) }
        var parts: [PartDemand] = []
        try readParts(word, at: ValuePath([]), into: &parts)
        return .parts(parts)
    }

    /// Reads a word in place of a value.
    private mutating func readParts(
        _ word: String, at path: ValuePath, into parts: inout [PartDemand]
    ) throws(DocumentError) {
        guard let known = DocumentWord(rawValue: word), DocumentWord.ofValue.contains(known),
            try source.enterDictionary()
        else { throw .misplaced(word, at: source.place) }
        var elements: (ensured: [KeyedArchive], unwanted: [KeyedArchive])?
        var isMerged = false
        while let name = try source.nextKey() {
            switch DocumentWord(rawValue: name) {
            case .ensure where !isMerged:
                elements = (try values(of: .ensure), elements?.unwanted ?? [])
            case .without where !isMerged:
                elements = (elements?.ensured ?? [], try values(of: .without))
            case .merge where elements == nil:
                isMerged = true
                try readMerge(at: path, into: &parts)
            default: throw .misplaced(name, at: source.place)
            }
        }
        if let elements {
            let isTorn = elements.ensured.contains { one in
                elements.unwanted.contains(where: one.isSame)
            }
            guard !isTorn else {
                throw DocumentError(
                    "An element cannot be both in $ensure and in $without.", at: source.place)
            }
            parts.append(
                PartDemand(
                    path: path, .elements(ensured: elements.ensured, unwanted: elements.unwanted)))
        }
    }

    private mutating func readMerge(
        at path: ValuePath, into parts: inout [PartDemand]
    ) throws(DocumentError) {
        guard path.steps.count < Self.mostMerges else {
            throw DocumentError(
                "More than \(Self.mostMerges) merges are inside each other.", at: source.place)
        }
        guard try source.enterDictionary() else {
            throw DocumentError("\"$merge\" has to be a dictionary.", at: source.place)
        }
        while let name = try source.nextKey() {
            let mark = source.mark
            if name == "$class" {
                guard let className = try string() else {
                    throw DocumentError(
                        "\"$class\" has to be a string.", at: source.place(of: mark))
                }
                parts.append(PartDemand(path: path, .object(className: className)))
                continue
            }
            guard !name.hasPrefix("$") else { throw .misplaced(name, at: source.place(of: mark)) }
            let part = ValuePath(path.steps + [.name(Text(name))])
            if let word = source.word() {
                try readParts(word, at: part, into: &parts)
            } else {
                parts.append(PartDemand(path: part, .value(try source.value().withDateObjects())))
            }
        }
    }

    /// A whole value.
    private mutating func value(of key: KeyPlace) throws(DocumentError) -> KeyedArchive {
        let mark = source.mark
        let archive = try source.value().withDateObjects()
        let size = archive.bytes.count
        guard size <= ContractLimits.maximumValueSize else {
            throw DocumentError(
                "The value of '\(key.key)' has \(size) bytes, but a value has at most 16 MiB.",
                at: source.place(of: mark))
        }
        return archive
    }

    private mutating func values(of word: DocumentWord) throws(DocumentError) -> [KeyedArchive] {
        guard try source.enterArray() else {
            throw DocumentError("\"\(word.rawValue)\" has to be an array.", at: source.place)
        }
        var values: [KeyedArchive] = []
        while try source.nextElement() {
            if let word = source.word() { throw .misplaced(word, at: source.place) }
            values.append(try source.value())
        }
        return values
    }

    private mutating func strings(of word: DocumentWord) throws(DocumentError) -> [String] {
        var strings: [String] = []
        for value in try values(of: word) {
            guard let string = value.text else {
                throw DocumentError(
                    "\"\(word.rawValue)\" has to be an array of strings.", at: source.place)
            }
            strings.append(string)
        }
        return strings
    }

    private mutating func string() throws(DocumentError) -> String? { try source.value().text }

    private mutating func integer() throws(DocumentError) -> Int? {
        let archive = try source.value().withDateObjects()
        return try? KeyedArchiveDecoder().decode(Int.self, from: archive)
    }
}

extension String {
    /// Whether it is the name of a host, as the service takes it.
    fileprivate var isHostName: Bool {
        1...64 ~= utf8.count
            && utf8.allSatisfy { DomainRule.isElementByte($0) || $0 == UInt8(ascii: ".") }
    }
}

extension KeyedArchive {
    /// The value if it is a string.
    fileprivate var text: String? { try? KeyedArchiveDecoder().decode(String.self, from: self) }
}
