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
    static let depthLimit = 48
    /// How deep archives are opened in each other.
    static let levelLimit = 16

    let options: InspectionOptions
    let spelling: ValueSpelling
    /// Whether references are followed; else the table of objects is shown.
    let followsReferences: Bool
    private let root: ArchiveView
    var stack: [TreeFrame] = []
    private var hasBegun = false
    /// The objects that are shown below the tree, in the order in which they were met, and how many
    /// of them were taken.
    var postponed: [(uid: UInt64, view: ArchiveView)] = []
    private var takenCount = 0
    private let limit: Int
    private var budget: Int
    /// Where the value begins that was met last, or the data that the archive is in which that is.
    var byteOffset = 0

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

    /// Takes bytes that are written or read again from the budget.
    mutating func spend(_ size: Int) throws(ArchiveError) {
        budget -= min(size, budget + 1)
        guard budget >= 0 else { throw .outputTooLarge(limit: limit, at: byteOffset) }
    }
}
