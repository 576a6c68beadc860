internal import PropertyList

/// An archive as a tree for people to read, line by line.
///
/// 1. Each object is shown once, with its UID where several places refer to it; elsewhere only its UID
///    is. So the tree ends for circles, and is as long as the archive, whatever is shared.
/// 2. What is nested very deep is shown below the tree, as a tree of its own, so that the lines do not
///    grow with the depth of the archive.
/// 3. What archives of a property list that shares its collections could make of that is limited by
///    a budget, from which every line is paid.
/// 4. The stack is an array, for archives inside of archives too.
///
/// ```swift
/// var tree = ArchiveTree(of: archive)
/// while let line = try tree.next() { print(line) }
/// ```
public struct ArchiveTree: InspectionListing {
    /// How deep objects stand in each other before they are shown below the tree.
    private static let depthLimit = 48
    /// How deep archives are opened in each other.
    private static let levelLimit = 16

    private let options: InspectionOptions
    private let spelling: ValueSpelling
    /// Whether references are followed; else the table of objects is shown.
    private let followsReferences: Bool
    private let root: ArchiveView
    private var stack: [TreeFrame] = []
    private var hasBegun = false
    /// The objects that are shown below the tree, the next one last.
    private var postponed: [(uid: UInt64, view: ArchiveView)] = []
    private let limit: Int
    private var budget: Int
    /// Where the value begins that was met last, or the data that the archive is in which that is.
    private var byteOffset = 0

    /// Makes the tree of the objects that `$top` reaches.
    public init(of archive: KeyedArchive, options: InspectionOptions = InspectionOptions()) {
        self.init(of: archive, options: options, followsReferences: true)
    }

    /// Makes the table of an archive's objects as they stand in its property list: each with its UID,
    /// and references as UIDs; before and after that the other entries of the root.
    public static func objectTable(
        of archive: KeyedArchive, options: InspectionOptions = InspectionOptions()
    ) -> ArchiveTree {
        ArchiveTree(of: archive, options: options, followsReferences: false)
    }

    private init(of archive: KeyedArchive, options: InspectionOptions, followsReferences: Bool) {
        self.options = options
        self.followsReferences = followsReferences
        spelling = ValueSpelling(text: VisibleText(isASCII: options.stringsAreASCII))
        root = ArchiveView(of: archive, level: 0)
        limit = options.limit(for: archive)
        budget = limit
    }

    /// The next line, or nil after the last.
    ///
    /// - Throws: ``ArchiveError`` where all lines together are larger than the limit.
    public mutating func next() throws(ArchiveError) -> InspectionLine? {
        guard let line = try nextLine() else { return nil }
        try spend(line.byteCount)
        return line
    }

    private mutating func nextLine() throws(ArchiveError) -> InspectionLine? {
        guard hasBegun else {
            hasBegun = true
            return firstLine()
        }
        while let frame = stack.last {
            guard frame.next < frame.count else {
                stack.removeLast()
                continue
            }
            stack[stack.count - 1].next += 1
            return try line(ofChild: frame.next, in: frame)
        }
        while let (uid, view) = postponed.popLast() {
            guard !view.hasShown(uid) else { continue }
            var line = InspectionLine()
            line.append("#\(uid)", .reference)
            line.append(": ", .structure)
            try showObject(uid, at: .element, in: view, indentation: "", to: &line)
            return line
        }
        return nil
    }

    private mutating func firstLine() -> InspectionLine {
        var line = InspectionLine()
        let archive = root.archive
        describe(archive, to: &line)
        if followsReferences {
            push(.inline(Fields(keys: archive.topKeys, values: archive.topValues)), in: root, "")
        } else if let fields = Fields(of: archive.list, at: archive.list.root) {
            push(.inline(fields), in: root, "")
        }
        return line
    }

    private func describe(_ archive: KeyedArchive, to line: inout InspectionLine) {
        line.append("keyed archive", .note)
        line.append(" by ", .note)
        line.append(spelling.name(of: archive.archiver, in: archive.list), .className)
        line.append(", \(spelling.count(archive.objects.count, "object"))", .note)
        line.append(", \(spelling.count(archive.bytes.count, "byte"))", .note)
    }

    private mutating func push(
        _ children: TreeFrame.Children, in view: ArchiveView, _ indentation: String
    ) {
        stack.append(TreeFrame(view: view, children: children, indentation: indentation))
    }

    /// Takes bytes that are written or read again from the budget.
    private mutating func spend(_ size: Int) throws(ArchiveError) {
        budget -= min(size, budget + 1)
        guard budget >= 0 else { throw .outputTooLarge(limit: limit, at: byteOffset) }
    }
}

// MARK: Children

extension ArchiveTree {
    private mutating func line(
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
        guard fields["$class", in: view.list] != nil else { return nil }
        try spend(fields.count)
        if case .string(let text) = view.archive.form(of: fields) {
            try spend(text.byteCount)
            return spelling.quoted(text)
        }
        return spelling.object(fields, in: view.archive)
    }
}

// MARK: Values

extension ArchiveTree {
    private typealias Position = ValueFormRenderer.Position

    /// Shows what stands at a place of the property list, and leaves its children on the stack.
    private mutating func show(
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

    /// Shows bytes, and what is in them where that is an archive.
    private mutating func show(
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

// MARK: Objects

extension ArchiveTree {
    private mutating func show(
        uid: UInt64, at position: Position, in view: ArchiveView, indentation: String,
        to line: inout InspectionLine
    ) throws(ArchiveError) {
        guard !view.archive.isNil(uid) else { return line.append("nil", .number) }
        let index = view.archive.object(uid)
        switch view.list.value(at: index) {
        case .boolean, .integer, .real, .singleReal:
            // A plain number in a field is one that stands inline.
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
    private mutating func showObject(
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
        case .array(let elements), .set(let elements):
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

    /// Shows where an object is shown.
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
    /// Where the field is that says of what class the object is.
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

extension KeyedArchive {
    /// Whether an entry of the root is `$objects`.
    fileprivate func objectsAre(_ value: ObjectIndex, in fields: Fields, at position: Int) -> Bool {
        guard case .dictionary(let keys, _) = list.value(at: list.root), keys == fields.keys,
            case .string(let name) = list.value(at: fields.key(at: position, in: list))
        else { return false }
        return list.isEqual(name, to: "$objects")
    }
}
