import PropertyList

extension Part {
    /// The reader and the writer of property lists: what is read has the invariants that are
    /// promised, and what is written of it reads to the same.
    static let propertyList = Part("property list") { bytes in
        let list: PropertyList
        do throws(PropertyListError) {
            list = try PropertyList(bytes)
        } catch {
            try Refusals.check(error, of: bytes)
            return .refused
        }
        try checkAccess(to: list)
        try checkLimits(of: list)
        try ListCheck(of: list).run()

        let copy = try ListCopy(of: list).bytes
        let reread = try PropertyList(copy, limits: .unlimited)
        try ListComparison(list, reread).run()
        try require(
            try ListCopy(of: reread).bytes == copy, "A copy of the copy has other bytes.")
        return .accepted
    }

    /// Looks at all objects, those that the root does not reach among them.
    private static func checkAccess(to list: PropertyList) throws {
        for index in list.indices {
            try require(
                (8..<list.bytes.count - 32).contains(list.byteOffset(of: index)),
                "Object \(index.position) is not among the objects.")
            let value = list.value(at: index)
            for child in list.children(of: value) {
                try require(child.position < list.objectCount, "A reference refers to nothing.")
            }
            switch value {
            case .uid(let uid):
                try require(uid <= list.largestUID ?? 0, "A UID is larger than the largest.")
            case .string(let range):
                let text = list.text(of: range)
                try require(
                    text.codeUnits.count == range.count && Text(utf16: text.codeUnits) == text,
                    "A string is another one when it is read.")
            case .data(let range):
                try require(list.data(of: range).count == range.count, "Data has another size.")
            default:
                break
            }
        }
    }

    /// Limits that the list just does not meet refuse it.
    private static func checkLimits(of list: PropertyList) throws {
        let (bytes, objects) = (list.bytes.count, list.objectCount)
        for limits in [
            PropertyList.Limits(byteCount: bytes - 1, objectCount: .max, depth: .max),
            PropertyList.Limits(byteCount: .max, objectCount: objects - 1, depth: .max),
        ] {
            do throws(PropertyListError) {
                _ = try PropertyList(list.bytes, limits: limits)
            } catch {
                try Refusals.check(error, of: list.bytes)
                try require(error.code == .limitExceeded, "A limit is not named: \(error)")
                continue
            }
            throw Violation(description: "A limit does not hold.")
        }
    }
}

extension PropertyList.Limits {
    /// What is written again may be larger than what was read.
    static let unlimited = PropertyList.Limits(byteCount: .max, objectCount: .max, depth: .max)
}
