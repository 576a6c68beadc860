import ArchiveTestSupport
import PropertyList

extension Tree {
    /// An archive of arrays, each of which has the next one several times.
    ///
    /// With a width of two it is small, and far too large as a tree.
    static func sharedArrays(depth: Int, width: Int) -> [UInt8] {
        let arrays = (1...depth).map { number -> Tree in
            let next = Array(repeating: Tree.uid(UInt64(number + 1)), count: width)
            return ["$class": .uid(UInt64(depth + 2)), "NS.objects": .array(next)]
        }
        return Tree(archive: arrays + ["leaf", .record("NSArray")]).bytes(uidWidth: 2)
    }
}
