internal import KeyedArchive
internal import PropertyList

/// The objects of the archive, each shown once.
extension ArchiveTree {
    mutating func show(
        uid: UInt64, at position: Position, in view: ArchiveView, indentation: String,
        to line: inout InspectionLine
    ) throws(ArchiveError) {
        guard !view.archive.isNil(uid) else { return line.append("nil", .number) }
        let index = view.archive.object(uid)
        switch view.list.value(at: index) {
        case .boolean, .integer, .real, .singleReal:
            // A plain number in a field would be inline, so this one is an object.
            if position == .field { line.append("NSNumber ", .className) }
            fallthrough
        case .string, .date, .uid:
            if let spelled = spelling.scalar(at: index, isInline: false, in: view.list) {
                line.append(spelled)
            }
        case .data, .array, .set, .orderedSet, .dictionary:
            if view.hasShown(uid) {
                refer(to: uid, in: view, isNamed: true, line: &line)
            } else if stack.count >= Self.depthLimit {
                refer(to: uid, in: view, isNamed: true, line: &line)
                postponed.append((uid, view))
            } else {
                try showObject(
                    uid, at: position, in: view, indentation: indentation, to: &line)
            }
        }
    }

    /// Shows an object itself, for the first time.
    mutating func showObject(
        _ uid: UInt64, at position: Position, in view: ArchiveView, indentation: String,
        to line: inout InspectionLine
    ) throws(ArchiveError) {
        guard view.show(uid) else { preconditionFailure("An object is shown twice.") }
        let index = view.archive.object(uid)
        guard let fields = Fields(of: view.list, at: index) else {
            return try showValue(
                view.list.value(at: index), at: index, of: uid, isInline: false, in: view,
                indentation, to: &line)
        }
        let className = spelling.className(of: fields, in: view.archive)
        guard fields["$class", in: view.list] != nil else {
            line.append("class ", .note)
            return line.append(className, .className)
        }
        try spend(fields.count)
        switch view.archive.form(of: fields) {
        case .string(let text):
            try spend(text.byteCount)
            line.append(className, .className)
            appendUID(uid, in: view, to: &line)
            line.append(" ", .structure)
            line.append(spelling.quoted(text))
        case .data(let data):
            try show(data, className, .className, of: uid, in: view, indentation, to: &line)
        case .array(let elements), .set(let elements, _):
            collection(
                className, .className, elements.count, "element", of: uid, in: view, to: &line)
            push(.elements(elements), in: view, indentation)
        case .dictionary(let keys, let values):
            collection(className, .className, keys.count, "entry", of: uid, in: view, to: &line)
            push(.entries(keys: keys, values: values), in: view, indentation)
        case .object:
            if let spelled = spelling.object(fields, in: view.archive) {
                line.append(spelled)
                return appendUID(uid, in: view, to: &line)
            }
            line.append(className, .className)
            appendUID(uid, in: view, to: &line)
            let classPosition = fields.classPosition(in: view.list)
            push(.fields(fields, classPosition: classPosition), in: view, indentation)
        }
    }

    /// Shows a reference to an object that is shown elsewhere.
    private func refer(
        to uid: UInt64, in view: ArchiveView, isNamed: Bool, line: inout InspectionLine
    ) {
        line.append(options.linesAreASCII ? "-> " : "→ ", .structure)
        line.append("#\(uid)", .reference)
        let object = view.archive.object(uid)
        guard isNamed, let fields = Fields(of: view.list, at: object) else { return }
        line.append(" ", .structure)
        line.append(spelling.className(of: fields, in: view.archive), .className)
    }
}

extension Fields {
    /// The position of the field that names the class of the object.
    fileprivate func classPosition(in list: PropertyList) -> Int {
        let position = (0..<count).first { position in
            guard case .string(let name) = list.value(at: key(at: position, in: list)) else {
                return false
            }
            return list.isEqual(name, to: "$class")
        }
        guard let position else { preconditionFailure("An object has no class.") }
        return position
    }
}

/// Values of the property list: scalars, data, and its own collections.
extension ArchiveTree {
    /// Shows a value of the property list, and puts its children on the stack.
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
    private mutating func showValue(
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

    private func collection(
        _ name: String, _ role: InspectionLine.Role, _ count: Int, _ unit: String,
        of uid: UInt64?, in view: ArchiveView, to line: inout InspectionLine
    ) {
        line.append(name, role)
        appendUID(uid, in: view, to: &line)
        line.append(count == 0 ? ", empty" : ", \(spelling.count(count, unit))", .note)
    }

    /// Appends the UID of an object that several places refer to.
    private func appendUID(
        _ uid: UInt64?, in view: ArchiveView, to line: inout InspectionLine
    ) {
        guard followsReferences, let uid, view.isShared[Int(uid)] else { return }
        line.append(" #\(uid)", .reference)
    }

    /// Shows bytes.
    ///
    /// If they are an archive, it is shown, too.
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
