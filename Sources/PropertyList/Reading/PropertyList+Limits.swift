extension PropertyList {
    /// How large a property list may be that is read.
    public struct Limits: Hashable, Sendable {
        /// The most bytes.
        public var byteCount: Int
        /// The most objects: values, and the keys among them.
        public var objectCount: Int
        /// The most levels of collections in collections.
        public var depth: Int

        /// Makes limits of your own.
        public init(byteCount: Int, objectCount: Int, depth: Int) {
            self.byteCount = byteCount
            self.objectCount = objectCount
            self.depth = depth
        }

        /// 16 MiB, 4 194 304 objects, 512 levels.
        public static let standard = Limits(
            byteCount: 16 << 20, objectCount: 4 << 20, depth: 512)
    }
}
