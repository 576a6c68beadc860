/// Adding fields and elements.
extension EncodingSession {
    /// Adds a field.
    ///
    /// - Throws: `EncodingError` if the object already has it.
    @discardableResult
    func addField(
        _ name: String, _ value: EncodingGraph.Value, to node: Node
    ) throws -> Node {
        if let failure { throw failure }
        let number = number(ofName: name, in: node)
        guard !isTaken(number, in: node) else {
            throw EncodingError.duplicateField(
                at: path(to: node) + [PathKey(stringValue: name)])
        }
        return graph.addMember(of: node, name: number, value)
    }

    /// Adds a field whose value follows later, in a container or with an encoder.
    func addOpenField(_ name: String, _ value: EncodingGraph.Value, to node: Node) -> Node {
        do {
            let member = try addField(name, value, to: node)
            try checkDepth(of: member)
            return member
        } catch {
            if let error = error as? EncodingError { fail(error) }
            return graph.addDetached(below: node)
        }
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
        do {
            try checkDepth(of: member)
        } catch {
            fail(error)
        }
        return member
    }

    private func checkDepth(of node: Node) throws(EncodingError) {
        guard graph[node].depth < options.depthLimit else {
            throw .tooDeep(limit: options.depthLimit, at: path(to: node))
        }
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

    private func isTaken(_ name: UInt32, in node: Node) -> Bool {
        guard graph[node].memberCount >= Self.searchLimit else {
            return graph.member(of: node, named: name) != nil
        }
        if graph[node].memberCount == Self.searchLimit {
            for member in graph.members(of: node) {
                fields.insert(Field(node: node, name: graph[member].name))
            }
        }
        return !fields.insert(Field(node: node, name: name)).inserted
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
