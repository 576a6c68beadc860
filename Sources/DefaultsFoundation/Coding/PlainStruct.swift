internal import Foundation

/// The structs that an NSValue can be archived with.
enum PlainStruct: Int {
    // The numbers are those of NS.special in archives.
    case point = 1
    case size, rectangle, range

    /// The struct in a value; nil if it is another.
    init?(in value: NSValue) {
        let type = String(cString: value.objCType)
        guard let known = Self.types.first(where: { $0.type == type }) else { return nil }
        self = known.kind
    }

    private static let types: [(kind: PlainStruct, type: String)] = [
        (.point, NSValue(point: NSPoint())), (.size, NSValue(size: NSSize())),
        (.rectangle, NSValue(rect: NSRect())), (.range, NSValue(range: NSRange())),
    ].map { ($0, String(cString: $1.objCType)) }
}

/// Points, sizes and rectangles as texts such as `{1, 2}` and `{{0, 0}, {1.5, 2}}`.
enum GeometryText {
    /// What GNUstep writes before the numbers.
    private static let names: Set<Substring> = ["x", "y", "width", "height"]

    static func of(_ point: NSPoint) -> String { "{\(text(point.x)), \(text(point.y))}" }

    static func of(_ size: NSSize) -> String { "{\(text(size.width)), \(text(size.height))}" }

    static func of(_ rectangle: NSRect) -> String {
        "{\(of(rectangle.origin)), \(of(rectangle.size))}"
    }

    private static func text(_ number: CGFloat) -> String {
        let text = "\(number)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// The numbers of a text; nil if there are not as many.
    static func numbers(in text: String, count: Int) -> [CGFloat]? {
        let words = text.split { "{}(),;= ".contains($0) }.filter { !names.contains($0) }
        let numbers = words.compactMap { Double($0) }
        guard words.count == count, numbers.count == count else { return nil }
        return numbers.map { CGFloat($0) }
    }
}
