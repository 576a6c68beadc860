internal import PropertyList

/// What stands at a place of the property list: scalars, data, and its own collections.
extension ArchiveTree {
    typealias Position = ValueFormRenderer.Position

    /// Shows what stands at a place of the property list, and leaves its children on the stack.
    mutating func show(
        _ index: ObjectIndex, at position: Position, in view: ArchiveView, _ indentation: String,
        to line: inout InspectionLine
    ) throws(ArchiveError) {
        if view.level == 0 { byteOffset = view.list.byteOffset(of: index) }
        let value = view.list.value(at: index)
        if case .uid(let uid) = value {
            if followsReferences {
                return try show(
                    uid: uid, at: position, in: view, indentation: indentation, to: &line)
            }
            return refer(to: uid, in: view, isNamed: false, line: &line)
        }
        try showValue(
            value, at: index, of: nil, isInline: position == .field, in: view, indentation,
            to: &line)
    }

    /// Shows a scalar, or a collection of the property list.
    mutating func showValue(
        _ value: PropertyList.Value, at index: ObjectIndex, of uid: UInt64?, isInline: Bool,
        in view: ArchiveView, _ indentation: String, to line: inout InspectionLine
    ) throws(ArchiveError) {
        switch value {
        case .array(let elements):
            collection("array", .note, elements.count, "element", of: uid, in: view, to: &line)
            push(.elements(.references(elements)), in: view, indentation)
        case .set(let elements):
            collection("set", .note, elements.count, "element", of: uid, in: view, to: &line)
            push(.elements(.references(elements)), in: view, indentation)
        case .orderedSet(let elements):
            collection(
                "ordered set", .note, elements.count, "element", of: uid, in: view, to: &line)
            push(.elements(.references(elements)), in: view, indentation)
        case .dictionary(let keys, let values):
            collection("dictionary", .note, keys.count, "entry", of: uid, in: view, to: &line)
            push(.inline(Fields(keys: keys, values: values)), in: view, indentation)
        case .data(let range):
            let name = isInline && followsReferences ? "inline data" : "data"
            let data = view.list.data(of: range)
            try show(data, name, .note, of: uid, in: view, indentation, to: &line)
        case .boolean, .integer, .real, .singleReal, .date, .string, .uid:
            if let spelled = spelling.scalar(at: index, isInline: isInline, in: view.list) {
                line.append(spelled)
            }
        }
    }

    func collection(
        _ name: String, _ role: InspectionLine.Role, _ count: Int, _ unit: String,
        of uid: UInt64?, in view: ArchiveView, to line: inout InspectionLine
    ) {
        line.append(name, role)
        appendUID(uid, in: view, to: &line)
        line.append(count == 0 ? ", empty" : ", \(spelling.count(count, unit))", .note)
    }

    /// Appends the UID of an object that several places refer to.
    func appendUID(
        _ uid: UInt64?, in view: ArchiveView, to line: inout InspectionLine
    ) {
        guard followsReferences, let uid, view.isShared[Int(uid)] else { return }
        line.append(" #\(uid)", .reference)
    }

    /// Shows bytes, and what is in them where that is an archive.
    mutating func show(
        _ data: ArraySlice<UInt8>, _ name: String, _ role: InspectionLine.Role, of uid: UInt64?,
        in view: ArchiveView, _ indentation: String, to line: inout InspectionLine
    ) throws(ArchiveError) {
        line.append(name, role)
        appendUID(uid, in: view, to: &line)
        line.append(", ", .note)
        line.append(spelling.data(data))
        guard data.starts(with: "bplist".utf8) else { return }
        try spend(data.count)
        guard let archive = try? KeyedArchive(validating: Array(data)) else { return }
        line.append(": ", .structure)
        describe(archive, to: &line)
        guard options.opensArchives, followsReferences else { return }
        guard view.level < Self.levelLimit else {
            return line.append(", nested too deep to be opened", .note)
        }
        let nested = ArchiveView(of: archive, level: view.level + 1)
        let top = Fields(keys: archive.topKeys, values: archive.topValues)
        push(.inline(top), in: nested, indentation)
    }
}
