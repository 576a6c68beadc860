/// Adding fields and elements.
extension EncodingSession {
    /// Adds a field.
    ///
    /// - Throws: `EncodingError` if the object already has it.
    @discardableResult
    func addField(
        _ key: some CodingKey, _ value: EncodingGraph.Value, to node: Node
    ) throws -> Node {
        if let failure { throw failure }
        let name = number(ofName: key.stringValue, in: node)
        guard member(of: node, named: name) == nil else {
            throw EncodingError.duplicateField(at: path(to: node) + [key])
        }
        return addMember(of: node, named: name, value)
    }

    /// The field whose value follows in a container or with an encoder.
    ///
    /// If the object has the field, they go on in its value. If the value is of another kind,
    /// encoding fails later.
    func openField(
        _ key: some CodingKey, _ value: EncodingGraph.Value = .pending(type: EncodingGraph.none),
        of node: Node
    ) -> Node {
        guard failure == nil else { return graph.addDetached(below: node) }
        let name = number(ofName: key.stringValue, in: node)
        let known = member(of: node, named: name)
        let member = known ?? addMember(of: node, named: name, value)
        heldKeys.hold(key, of: member)
        // Another place may refer to an instance, and it would have the fields there, too.
        guard known == nil || !graph[member].isInstance else { return conflict(at: member) }
        checkDepth(of: member)
        return member
    }

    func addElement(_ value: EncodingGraph.Value, to node: Node) throws -> Node {
        if let failure { throw failure }
        return graph.addMember(of: node, value)
    }

    /// Sets the value of a node that consists of a single value.
    func setSingle(_ value: EncodingGraph.Value, at node: Node) throws {
        if let failure { throw failure }
        guard case .pending = graph[node].value else {
            throw EncodingError.secondContainer(at: path(to: node))
        }
        graph.set(value, at: node)
    }

    /// An integer.
    ///
    /// Archives support at most 128 bits with a sign.
    func integer(
        _ value: some FixedWidthInteger, at path: @autoclosure () -> [any CodingKey]
    ) throws -> EncodingGraph.Value {
        guard let integer = graph.integer(value) else {
            throw EncodingError.integerTooLarge(at: path())
        }
        return integer
    }

    /// Adds an element whose value follows later.
    func addOpenElement(_ value: EncodingGraph.Value, to node: Node) -> Node {
        guard failure == nil else { return graph.addDetached(below: node) }
        let member = graph.addMember(of: node, value)
        checkDepth(of: member)
        return member
    }

    private func checkDepth(of node: Node) {
        guard graph[node].depth >= options.depthLimit else { return }
        fail(EncodingError.tooDeep(limit: options.depthLimit, at: path(to: node)))
    }

    /// The number of a field's name.
    ///
    /// Usually it is the same as in the last object of the class.
    private func number(ofName name: String, in node: Node) -> UInt32 {
        guard case .object(let classNumber) = graph[node].value else {
            return names.number(of: name)
        }
        // An archiver puts a second dollar sign before names that begin with one.
        let name = name.utf8.first == UInt8(ascii: "$") ? "$" + name : name
        let (number, position) = (Int(classNumber), Int(graph[node].memberCount))
        let count = classes[number].fieldNames.count
        if position < count {
            let expected = classes[number].fieldNames[position]
            if names.isName(expected, name) { return expected }
        }
        let found = names.number(of: name)
        if position < count {
            classes[number].fieldNames[position] = found
        } else if position == count {
            classes[number].fieldNames.append(found)
        }
        return found
    }

    /// The field of an object, if it has it.
    private func member(of node: Node, named name: UInt32) -> Node? {
        guard graph[node].memberCount >= Self.searchLimit else {
            return graph.member(of: node, named: name)
        }
        return fields[Field(node: node, name: name)]
    }

    private func addMember(
        of node: Node, named name: UInt32, _ value: EncodingGraph.Value
    ) -> Node {
        let member = graph.addMember(of: node, name: name, value)
        if graph[node].memberCount == Self.searchLimit {
            for member in graph.members(of: node) {
                fields[Field(node: node, name: graph[member].name)] = member
            }
        } else if graph[node].memberCount > Self.searchLimit {
            fields[Field(node: node, name: name)] = member
        }
        return member
    }
}

/// Foundation's types.
///
/// Foundation is not imported, so the form in which these types encode themselves is converted to
/// what their NS classes write.
extension EncodingSession {
    func encode(
        _ value: some Encodable, as foundation: TypeFacts.Foundation, of type: UInt32,
        at node: Node
    ) throws {
        if foundation == .data, let bytes = TypeFacts.of(Swift.type(of: value)).bytes {
            let (start, count) = store(value, as: bytes)
            return graph.set(.data(start: start, count: count), at: node)
        }
        graph.set(.pending(type: type), at: node)
        try value.encode(to: ValueEncoder(session: self, node: node))
        switch (foundation, graph[node].value) {
        case (.date, .real), (.date, .integer):
            // NSDate has seconds since 2001-01-01 UTC, and Date encodes the same number.
            replace(node, "NS.time", graph[node].value, of: type)
        case (.uuid, .text(let start, let count)):
            guard let bytes = UUIDText.bytes(graph.content[start..<start + count]) else { break }
            let stored = graph.store(bytes)
            replace(
                node, "NS.uuidbytes", .bytes(start: stored.start, count: stored.count), of: type)
        case (.url, .object):
            completeURL(node)
        default:
            // A type of a different Foundation, which encodes itself differently, stays as it is.
            break
        }
    }

    private func store<Bytes: RangeReplaceableCollection<UInt8>>(
        _ value: some Encodable, as type: Bytes.Type
    ) -> (start: Int, count: Int) {
        graph.store((value as? Bytes) ?? Bytes())
    }

    /// Makes an object from a value that was encoded as a scalar.
    private func replace(
        _ node: Node, _ name: String, _ value: EncodingGraph.Value, of type: UInt32
    ) {
        graph.set(.pending(type: type), at: node)
        _ = graph.addMember(of: beginFields(at: node), name: names.number(of: name), value)
    }

    /// URL encodes `relative`, and `base` if it has one.
    ///
    /// NSURL has both, with its own prefix.
    private func completeURL(_ node: Node) {
        let base = names.number(of: "NS.base")
        for member in Array(graph.members(of: node)) {
            graph.rename(member, names.number(of: "NS." + names[graph[member].name]))
        }
        if graph.member(of: node, named: base) == nil {
            _ = graph.addMember(of: node, name: base, .null)
        }
    }
}

extension TypeFacts.Foundation {
    /// The class name of the type's values in archives.
    var className: String {
        switch self {
        case .date: "NSDate"
        case .data: "NSData"
        case .url: "NSURL"
        case .uuid: "NSUUID"
        }
    }
}
