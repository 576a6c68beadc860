package import KeyedArchive
internal import PropertyList

/// An archive as a tree for people to read, line by line.
///
/// 1. Each object is shown once, with its UID if several places refer to it. The other places show
///    only the UID. So cycles end, and sharing does not make the tree longer.
/// 2. Deeply nested objects are shown below the tree, as separate trees. So the length of lines
///    does not grow with the depth of the archive.
/// 3. Every line is paid for from a budget. This limits the output for a property list with shared
///    collections.
/// 4. The stack is an array, also for archives inside archives.
///
/// ```swift
/// var tree = ArchiveTree(of: archive)
/// while let line = try tree.next() { print(line) }
/// ```
package struct ArchiveTree: InspectionListing {
    /// The depth from which on objects are shown below the tree.
    static let depthLimit = 48
    /// The most archives that are opened inside each other.
    static let levelLimit = 16

    /// The position of a value.
    ///
    /// Numbers and data are shown differently in a field.
    enum Position {
        case element
        case field
    }

    let options: InspectionOptions
    let spelling: ValueSpelling
    /// Whether references are followed.
    ///
    /// Otherwise the table of objects is shown.
    let followsReferences: Bool
    private let root: ArchiveView
    var stack: [TreeFrame] = []
    private var hasBegun = false
    /// The objects that are shown below the tree, in the order in which they were found, and how
    /// many of them were taken.
    var postponed: [(uid: UInt64, view: ArchiveView)] = []
    private var takenCount = 0
    private let limit: Int
    private var budget: Int
    /// The offset of the last value, or of the data with the archive around it.
    var byteOffset = 0

    /// Makes the tree of the objects that can be reached from `$top`.
    package init(of archive: KeyedArchive, options: InspectionOptions = InspectionOptions()) {
        self.init(of: archive, options: options, followsReferences: true)
    }

    /// Makes the table of an archive's objects as they are in its property list: each with its UID,
    /// and with references as UIDs.
    ///
    /// The other entries of the root come before and after it.
    package static func objectTable(
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
    /// - Throws: ``ArchiveError`` if all lines together exceed the limit.
    package mutating func next() throws(ArchiveError) -> InspectionLine? {
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
        while takenCount < postponed.count {
            let (uid, view) = postponed[takenCount]
            takenCount += 1
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

    func describe(_ archive: KeyedArchive, to line: inout InspectionLine) {
        line.append("keyed archive", .note)
        line.append(" by ", .note)
        line.append(spelling.name(of: archive.archiver, in: archive.list), .className)
        line.append(", \(spelling.count(archive.objects.count, "object"))", .note)
        line.append(", \(spelling.count(archive.bytes.count, "byte"))", .note)
    }

    mutating func push(
        _ children: TreeFrame.Children, in view: ArchiveView, _ indentation: String
    ) {
        stack.append(TreeFrame(view: view, children: children, indentation: indentation))
    }

    /// Takes bytes that are written, or read again, from the budget.
    mutating func spend(_ size: Int) throws(ArchiveError) {
        budget -= min(size, budget + 1)
        guard budget >= 0 else { throw .outputTooLarge(limit: limit, at: byteOffset) }
    }
}

/// A collection or an object of a tree whose children are being shown.
struct TreeFrame {
    enum Children {
        case elements(Elements)
        /// The entries of a property list `$objects`, which are labelled by their UIDs.
        case objects(PropertyList.References)
        /// The entries of a dictionary object.
        case entries(keys: Elements, values: Elements)
        /// The entries of a dictionary of the property list.
        case inline(Fields)
        /// The fields of an object, except the one with its class.
        case fields(Fields, classPosition: Int)
        /// A key that needs its own lines, and its value.
        case pair(key: ObjectIndex, value: ObjectIndex)
    }

    let view: ArchiveView
    let children: Children
    /// The beginning of the lines of the children.
    let indentation: String
    var next = 0

    var count: Int {
        switch children {
        case .elements(let elements): elements.count
        case .objects(let references): references.count
        case .entries(let keys, _): keys.count
        case .inline(let fields): fields.count
        case .fields(let fields, _): fields.count - 1
        case .pair: 2
        }
    }
}

/// The lines of the children of a collection or an object, each with its label.
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

    /// The line that leads to a child, and the text before the lines below it.
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

    /// A key that fits on one line.
    private mutating func spellKey(
        _ key: ObjectIndex, in view: ArchiveView
    ) throws(ArchiveError) -> InspectionLine? {
        let index = view.archive.target(of: key)
        guard let fields = Fields(of: view.list, at: index) else {
            return spelling.scalar(at: index, isInline: false, in: view.list)
        }
        // An inline dictionary is not an object, whatever its keys are.
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
