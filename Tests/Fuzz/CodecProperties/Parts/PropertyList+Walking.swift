import PropertyList

extension PropertyList {
    /// The elements of a collection; of a dictionary its keys, and then its values.
    func children(of value: Value) -> [ObjectIndex] {
        switch value {
        case .array(let references), .set(let references), .orderedSet(let references):
            elements(of: references)
        case .dictionary(let keys, let values):
            elements(of: keys) + elements(of: values)
        case .boolean, .integer, .real, .singleReal, .date, .data, .string, .uid:
            []
        }
    }

    /// What the root reaches, each once, elements before what holds them.
    ///
    /// - Throws: ``Violation`` where a collection contains itself.
    func elementsFirst() throws(Violation) -> [ObjectIndex] {
        enum Mark { case unvisited, open, done }
        var marks = Array(repeating: Mark.unvisited, count: objectCount)
        var order: [ObjectIndex] = []
        var stack = [(index: root, children: children(of: value(at: root))[...])]
        marks[root.position] = .open
        while var frame = stack.popLast() {
            guard let child = frame.children.popFirst() else {
                marks[frame.index.position] = .done
                order.append(frame.index)
                continue
            }
            stack.append(frame)
            try require(marks[child.position] != .open, "A collection contains itself.")
            if marks[child.position] == .unvisited {
                marks[child.position] = .open
                stack.append((child, self.children(of: value(at: child))[...]))
            }
        }
        return order
    }
}
