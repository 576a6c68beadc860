internal import PropertyList

/// The lines of a collection's or an object's children, each with what it is labelled by.
extension ArchiveTree {
    mutating func line(
        ofChild position: Int, in frame: TreeFrame
    ) throws(ArchiveError) -> InspectionLine {
        let isLast = position == frame.count - 1
        let (fork, gap) = branch(isLast: isLast)
        var line = InspectionLine()
        line.append(frame.indentation + fork, .structure)
        let indentation = frame.indentation + gap
        let (view, list) = (frame.view, frame.view.list)
        switch frame.children {
        case .elements(let elements):
            label("\(position)", to: &line)
            let element = elements.element(position, in: list)
            try show(element, at: .element, in: view, indentation, to: &line)
        case .objects(let references):
            label("#\(position)", .reference, to: &line)
            let object = list.element(position, of: references)
            try show(object, at: .field, in: view, indentation, to: &line)
        case .entries(let keys, let values):
            let (key, value) = (
                keys.element(position, in: list), values.element(position, in: list)
            )
            try showEntry(key, value, in: view, indentation, to: &line)
        case .inline(let fields):
            label(spelling.name(of: fields.key(at: position, in: list), in: list), to: &line)
            let value = fields.value(at: position, in: list)
            if !followsReferences, view.archive.objectsAre(value, in: fields, at: position),
                case .array(let references) = list.value(at: value)
            {
                line.append(spelling.count(references.count, "object"), .note)
                push(.objects(references), in: view, indentation)
            } else {
                try show(value, at: .field, in: view, indentation, to: &line)
            }
        case .fields(let fields, let classPosition):
            let position = position < classPosition ? position : position + 1
            label(spelling.name(of: fields.key(at: position, in: list), in: list), to: &line)
            let value = fields.value(at: position, in: list)
            try show(value, at: .field, in: view, indentation, to: &line)
        case .pair(let key, let value):
            label(position == 0 ? "key" : "value", .note, to: &line)
            let index = position == 0 ? key : value
            try show(index, at: .element, in: view, indentation, to: &line)
        }
        return line
    }

    /// What leads to a child, and what stands before the lines below it.
    private func branch(isLast: Bool) -> (fork: String, gap: String) {
        switch (options.linesAreASCII, isLast) {
        case (false, false): ("├─ ", "│  ")
        case (false, true): ("└─ ", "   ")
        case (true, false): ("|- ", "|  ")
        case (true, true): ("`- ", "   ")
        }
    }

    private func label(
        _ text: String, _ role: InspectionLine.Role = .label, to line: inout InspectionLine
    ) {
        line.append(text, role)
        line.append(": ", .structure)
    }

    /// Shows an entry of a dictionary object, whose key can be any object.
    private mutating func showEntry(
        _ key: ObjectIndex, _ value: ObjectIndex, in view: ArchiveView, _ indentation: String,
        to line: inout InspectionLine
    ) throws(ArchiveError) {
        if let spelled = try spellKey(key, in: view) {
            line.append(spelled)
            line.append(": ", .structure)
            try show(value, at: .element, in: view, indentation, to: &line)
        } else {
            line.append("entry", .note)
            push(.pair(key: key, value: value), in: view, indentation)
        }
    }

    /// A key that fits one line.
    private mutating func spellKey(
        _ key: ObjectIndex, in view: ArchiveView
    ) throws(ArchiveError) -> InspectionLine? {
        let index = view.archive.target(of: key)
        guard let fields = Fields(of: view.list, at: index) else {
            return spelling.scalar(at: index, isInline: false, in: view.list)
        }
        // What stands inline is no object, whatever its entries are called.
        guard case .uid = view.list.value(at: key), fields["$class", in: view.list] != nil else {
            return nil
        }
        try spend(fields.count)
        if case .string(let text) = view.archive.form(of: fields) {
            try spend(text.byteCount)
            return spelling.quoted(text)
        }
        return spelling.object(fields, in: view.archive)
    }
}

extension KeyedArchive {
    /// Whether an entry of the root is `$objects`.
    fileprivate func objectsAre(_ value: ObjectIndex, in fields: Fields, at position: Int) -> Bool {
        guard case .dictionary(let keys, _) = list.value(at: list.root), keys == fields.keys,
            case .string(let name) = list.value(at: fields.key(at: position, in: list))
        else { return false }
        return list.isEqual(name, to: "$objects")
    }
}
