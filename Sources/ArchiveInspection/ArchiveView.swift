internal import KeyedArchive
internal import PropertyList

/// An archive that is being shown, and the objects that were shown.
///
/// It is a class because the open frames of a tree share it.
final class ArchiveView {
    let archive: KeyedArchive
    /// How many archives are around this one.
    let level: Int
    /// Whether several places refer to an object, by its UID.
    private(set) var isShared: [Bool]
    /// Whether an object was shown, by its UID.
    private var wasShown: [Bool]

    init(of archive: KeyedArchive, level: Int) {
        self.archive = archive
        self.level = level
        let count = archive.objects.count
        isShared = Array(repeating: false, count: count)
        wasShown = Array(repeating: false, count: count)
        noteSharing()
    }

    var list: PropertyList { archive.list }

    /// Notes that an object is shown now.
    ///
    /// It returns false if it was shown before.
    func show(_ uid: UInt64) -> Bool {
        guard !wasShown[Int(uid)] else { return false }
        wasShown[Int(uid)] = true
        return true
    }

    func hasShown(_ uid: UInt64) -> Bool { wasShown[Int(uid)] }

    private func noteSharing() {
        var isReferred = isShared
        for index in list.indices {
            let elements: PropertyList.References
            switch list.value(at: index) {
            case .array(let references), .set(let references), .orderedSet(let references),
                .dictionary(_, let references):
                elements = references
            case .boolean, .integer, .real, .singleReal, .date, .data, .string, .uid:
                continue
            }
            for position in 0..<elements.count {
                guard case .uid(let uid) = list.value(at: list.element(position, of: elements))
                else { continue }
                isShared[Int(uid)] = isReferred[Int(uid)]
                isReferred[Int(uid)] = true
            }
        }
    }
}
