import ArchiveTestSupport
import PropertyList

/// Changes of single parts of a property list, which are named by keys and numbers from the root.
extension Tree {
    init(_ index: ObjectIndex, of list: PropertyList) {
        func trees(_ references: PropertyList.References) -> [Tree] {
            list.elements(of: references).map { Tree($0, of: list) }
        }
        switch list.value(at: index) {
        case .boolean(let value): self = .boolean(value)
        case .integer(let value): self = .integer(value)
        case .real(let value): self = .real(value)
        case .singleReal(let value): self = .single(value)
        case .date(let value): self = .date(value)
        case .data(let range): self = .data(Array(list.data(of: range)))
        case .string(let range): self = .text(list.text(of: range))
        case .uid(let uid): self = .uid(uid)
        case .array(let elements): self = .array(trees(elements))
        case .set(let elements): self = .set(trees(elements))
        case .orderedSet(let elements): self = .orderedSet(trees(elements))
        case .dictionary(let keys, let values):
            let names = list.elements(of: keys).map { list.text(at: $0) ?? "" }
            self = .dictionary(Array(zip(names, trees(values))))
        }
    }

    /// The paths of all parts.
    var paths: [[String]] {
        children.flatMap { child in
            [[child.name]] + child.tree.paths.map { [child.name] + $0 }
        }
    }

    private var children: [(name: String, tree: Tree)] {
        switch self {
        case .array(let elements), .set(let elements), .orderedSet(let elements):
            elements.enumerated().map { (String($0.offset), $0.element) }
        case .dictionary(let entries):
            entries.map { ($0.0.description, $0.1) }
        default:
            []
        }
    }

    func replacing(_ path: ArraySlice<String>, by other: Tree) -> Tree {
        changing(path) { _ in other } ?? other
    }

    func removing(_ path: ArraySlice<String>) -> Tree {
        changing(path) { _ in nil } ?? []
    }

    /// The tree with a part changed, or left out where the change gives nil.
    private func changing(_ path: ArraySlice<String>, _ change: (Tree) -> Tree?) -> Tree? {
        guard let name = path.first else { return change(self) }
        func changed(_ elements: [Tree]) -> [Tree] {
            elements.enumerated().compactMap { number, element in
                String(number) == name ? element.changing(path.dropFirst(), change) : element
            }
        }
        switch self {
        case .array(let elements): return .array(changed(elements))
        case .set(let elements): return .set(changed(elements))
        case .orderedSet(let elements): return .orderedSet(changed(elements))
        case .dictionary(let entries):
            return .dictionary(
                entries.compactMap { key, value in
                    guard key.description == name else { return (key, value) }
                    return value.changing(path.dropFirst(), change).map { (key, $0) }
                })
        default: return self
        }
    }
}
