internal import Foundation
public import KeyedArchive
internal import PropertyList

extension KeyedArchive {
    /// Archives an object and all that it refers to.
    ///
    /// The classes of all these objects must conform to NSSecureCoding. Of Foundation's classes,
    /// these can be archived: NSString, NSNumber, NSData, NSDate, NSNull, NSURL, NSUUID, NSArray,
    /// NSDictionary, NSSet, NSCountedSet, NSOrderedSet and their mutable subclasses, NSError,
    /// NSURLQueryItem, NSTimeZone, NSLocale, NSPersonNameComponents, NSDateComponents without a
    /// calendar, NSDateInterval, NSIndexSet and NSAttributedString and their mutable subclasses,
    /// NSValue of a point, a size, a rectangle or a range; and the Swift values that are bridged to
    /// one of them.
    ///
    /// The same objects give the same bytes in each run. Fields are sorted by name, and the entries
    /// of dictionaries and the elements of sets have a fixed order. Booleans stay booleans. An
    /// object that several others refer to is written once. Cycles are allowed.
    ///
    /// An object's `encode(with:)` returns before the objects that it gave to its coder are
    /// encoded.
    ///
    /// ```swift
    /// let archive = try KeyedArchive(archiving: account)
    /// try archive.data.write(to: file)
    /// ```
    ///
    /// - Throws: ``ObjectCodingError`` with the names of the fields that lead to what cannot be
    ///   archived.
    public init(
        archiving object: Any?, options: ObjectCodingOptions = ObjectCodingOptions()
    ) throws(ObjectCodingError) {
        self = try ObjectCollector(options: options).archive(object)
    }
}

/// Collects an object and all that it refers to into a graph that can be written.
///
/// 1. An object is one node, even if it is found several times. Its `encode(with:)` is called once.
/// 2. Objects are kept until the end, so no two can have the same address.
/// 3. Nothing recurses: the objects that an object refers to are encoded later.
final class ObjectCollector {
    typealias NodeIndex = ObjectGraph.NodeIndex

    let log = FailureLog()
    private let options: ObjectCodingOptions
    private(set) var graph = ObjectGraph()
    private var nodes: [ObjectIdentifier: NodeIndex?] = [:]
    /// The objects of the nodes.
    private var objects: [NSObject] = []
    /// Objects that are archived in place of others.
    private var replaced: [NSObject] = []
    /// The nodes whose fields are not known yet, and nodes that were among them.
    private var left: [NodeIndex] = []
    private var isKnown: Set<NodeIndex> = []
    /// The parent from which each node was found first, and the step from there.
    private var origins: [(parent: NodeIndex?, step: String)] = []
    private var chains: [ObjectIdentifier: [Text]] = [:]
    private var ways: [ObjectIdentifier: FoundationClasses.Way] = [:]

    init(options: ObjectCodingOptions) {
        self.options = options
    }

    /// Collects everything from this object on, and writes the archive.
    func archive(_ root: Any?) throws(ObjectCodingError) -> KeyedArchive {
        let root = node(of: root, in: nil, as: "root")
        while log.first == nil, let node = left.popLast() { collect(node) }
        if let error = log.first { throw error }
        return graph.archive(root: root)
    }

    /// The path to a node, for errors.
    private func path(to node: NodeIndex?, _ last: String? = nil) -> [String] {
        var path = last.map { [$0] } ?? []
        var next = node
        while let node = next {
            path.append(origins[node].step)
            next = origins[node].parent
        }
        return path.reversed()
    }

    func fail(_ error: ObjectCodingError, at node: NodeIndex?, _ step: String? = nil) {
        log.note(error.located(path: path(to: node, step), at: nil))
    }

    /// The way in which objects of the class can be coded.
    func way(of class: AnyClass) -> FoundationClasses.Way {
        let identifier = ObjectIdentifier(`class`)
        if let way = ways[identifier] { return way }
        let way = FoundationClasses.way(of: `class`)
        ways[identifier] = way
        return way
    }
}

// MARK: Nodes

extension ObjectCollector {
    /// The node of a value that was found in `parent` as the field or element `step`; nil for nil.
    ///
    /// A value with only conditional references is not written.
    func node(
        of value: Any?, in parent: NodeIndex?, as step: String, isConditional: Bool = false
    ) -> NodeIndex? {
        guard log.first == nil, let value, let object = object(of: value, in: parent, as: step),
            let node = node(of: object)
        else { return nil }
        if origins.count == node { origins.append((parent, step)) }
        if !isConditional, isKnown.insert(node).inserted { left.append(node) }
        return node
    }

    /// The object that the value is or is bridged to.
    private func object(of value: Any, in parent: NodeIndex?, as step: String) -> NSObject? {
        let object = (value as AnyObject) as? NSObject
        if let object, type(of: value) is AnyClass { return object }
        // Swift values without a class in Foundation come in a private box.
        guard let object, case .known = way(of: type(of: object)) else {
            if let object, case .own = way(of: type(of: object)) { return object }
            fail(.notEncodable("\(type(of: value))"), at: parent, step)
            return nil
        }
        // An empty optional in a value of type Any comes as NSNull.
        return object is NSNull ? nil : object
    }

    private func node(of object: NSObject) -> NodeIndex? {
        if let known = nodes[ObjectIdentifier(object)] { return known }
        guard let target = replacement(of: object) else {
            replaced.append(object)
            nodes[ObjectIdentifier(object)] = .some(nil)
            return nil
        }
        let node: NodeIndex
        if target !== object, let known = nodes[ObjectIdentifier(target)] ?? nil {
            node = known
        } else {
            node = graph.reserve()
            objects.append(target)
            nodes[ObjectIdentifier(target)] = node
        }
        if target !== object {
            replaced.append(object)
            nodes[ObjectIdentifier(object)] = node
        }
        return node
    }

    /// The object that is archived in place of this one: usually the object itself.
    private func replacement(of object: NSObject) -> NSObject? {
        guard case .own = way(of: type(of: object)) else { return object }
        let replacement = object.replacementObject(for: InertCoder(log: log) as NSCoder)
        return replacement.flatMap { ($0 as AnyObject) as? NSObject }
    }

    private func collect(_ node: NodeIndex) {
        let object = objects[node]
        let objectClass: AnyClass = type(of: object)
        var name: String { ClassNames.qualifiedName(of: objectClass) }
        switch way(of: objectClass) {
        case .known(let kind):
            if let content = content(of: object, kind, in: node) {
                graph.define(node, as: content)
            } else {
                fail(.notEncodable(name), at: node)
            }
        case .own:
            guard let coding = object as? any NSSecureCoding,
                type(of: coding).supportsSecureCoding
            else { return fail(.notSecure(name), at: node) }
            let encoder = FieldEncoder(self, node: node)
            coding.encode(with: encoder)
            let fields = encoder.fields.sorted { $0.name < $1.name }
            let chain = chain(
                of: FoundationClasses.codable(above: objectClass) ?? object.classForKeyedArchiver
                    ?? objectClass)
            graph.define(node, as: .object(chain: chain, fields: fields))
        case .refused(let ancestor):
            let ancestor = ClassNames.qualifiedName(of: ancestor)
            fail(.unsupportedClass(name, ancestor: ancestor), at: node)
        }
    }

    /// The names of a class and all its superclasses.
    private func chain(of class: AnyClass) -> [Text] {
        let identifier = ObjectIdentifier(`class`)
        if let chain = chains[identifier] { return chain }
        let chain = sequence(first: `class`, next: { _getSuperclass($0) })
            .map { Text(options.classNames.name(of: $0)) }
        chains[identifier] = chain
        return chain
    }
}
