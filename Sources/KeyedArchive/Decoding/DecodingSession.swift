internal import PropertyList

/// The state of decoding one archive, which its decoders and containers share.
///
/// 1. Each value is paid for from a budget before it is read. So is every other work whose amount
///    depends on the archive. When the budget is used up, nothing more is read, and decoding ends
///    with an error, even if types ignore errors.
/// 2. A value knows its parents. Their number is limited. An object is not decoded inside itself.
final class DecodingSession {
    private struct Instance: Hashable {
        let uid: UInt64
        let type: ObjectIdentifier
    }

    let options: KeyedArchiveDecoder
    let archive: KeyedArchive
    let list: PropertyList
    /// The archive's objects by UID.
    let objects: PropertyList.References
    private var types: [ObjectIdentifier: DecodedType] = [:]
    private var lastTypes: (DecodedType?, DecodedType?)
    private var classes: [UInt64: ArchivedClass] = [:]
    private var lastClasses: (ArchivedClass?, ArchivedClass?)
    /// The string `$class` that was found last; most objects share it.
    private var classKey: ObjectIndex?
    private var instances: [Instance: AnyObject] = [:]
    /// The bytes that may still be decoded; -1 if the budget is used up.
    private var budget: Int
    /// The error for that, when it is known.
    private var exhaustion: DecodingError?
    /// The default value with the fields that the archive lacks.
    let prototype: Prototype?
    /// Whether this is the archive of a default value, which has no default values itself.
    let isDefaultValue: Bool
    /// The type that takes missing fields from the root, if this session is for a default value.
    let prototypeType: Any.Type?
    /// The root, if it is not an object of its type's class.
    var foreignRoot: ValueDecoder?
    /// The session of the root's default value, once a field was missing.
    private(set) lazy var defaultSession: DecodingSession? = {
        guard let prototype, let archive = try? prototype.archive() else { return nil }
        return DecodingSession(options, defaultValue: archive, of: prototype.type)
    }()

    init(_ options: KeyedArchiveDecoder, _ archive: KeyedArchive, _ prototype: Prototype? = nil) {
        self.options = options
        self.prototype = prototype
        isDefaultValue = false
        prototypeType = nil
        self.archive = archive
        list = archive.list
        objects = archive.objects
        budget = options.limits.size
    }

    /// Makes the session of a default value.
    init(_ options: KeyedArchiveDecoder, defaultValue archive: KeyedArchive, of type: Any.Type) {
        self.options = options
        prototype = nil
        isDefaultValue = true
        prototypeType = type
        self.archive = archive
        list = archive.list
        objects = archive.objects
        budget = options.limits.size
    }

    /// The value under a key of `$top`: the given key, or otherwise `root`, or otherwise the only
    /// key.
    func root(_ key: String?) throws -> DecodingPlace {
        let top = Fields(keys: archive.topKeys, values: archive.topValues)
        let position = (0..<top.count).first {
            list.isString(at: top.key(at: $0, in: list), key ?? "root")
        }
        if let position { return resolve(top.value(at: position, in: list)) }
        guard key == nil, top.count == 1 else { throw DecodingError.noRoot(key, count: top.count) }
        return resolve(top.value(at: 0, in: list))
    }

    /// Checks that a value is not nested too deeply, and not inside itself.
    func checkNesting(of place: DecodingPlace, _ location: DecodingLocation) throws {
        guard let parent = location.parent else { return }
        guard parent.depth + 1 < options.limits.depth else {
            // This uses up the budget: otherwise a type that tries several things at each level
            // would come back here again and again.
            let error = error(DecodingError.tooDeep(limit: options.limits.depth), place, location)
            budget = -1
            exhaustion = exhaustion ?? error
            throw error
        }
        // In this case the parent's value has the same UID.
        if case .none = location.key { return }
        guard place.uid != 0, place.isCollection else { return }
        guard !parent.isInside(place.uid) else {
            throw error(DecodingError.circle, place, location)
        }
    }
}

// MARK: Budget

extension DecodingSession {
    /// The cost of a value, in addition to the bytes of its text or data.
    static let valueCost = 8

    /// Takes `size` bytes and the cost of a value from the budget.
    func spend(_ size: Int, at location: DecodingLocation) throws {
        guard affords(size + Self.valueCost) else { throw exhaustion(at: location) }
    }

    /// Takes `size` bytes from the budget, in functions that cannot throw.
    ///
    /// If it returns false, nothing may be read, and decoding ends in an error.
    func affords(_ size: Int) -> Bool {
        guard size <= budget else {
            budget = -1
            return false
        }
        budget -= size
        return true
    }

    var isSpent: Bool { budget < 0 }

    /// Checks that the budget is not used up.
    ///
    /// If it is, parts of the archive may not have been found.
    func checkBudget(at location: DecodingLocation) throws {
        if isSpent { throw exhaustion(at: location) }
    }

    private func exhaustion(at location: DecodingLocation) -> DecodingError {
        if let exhaustion { return exhaustion }
        let error = DecodingError.tooLarge(limit: options.limits.size, at: location.path)
        exhaustion = error
        return error
    }
}

// MARK: Values

extension DecodingSession {
    /// Decodes a value.
    ///
    /// The type may be a subclass of `Value` that is known only at run time.
    func decode<Value: Decodable>(
        _ requested: Value.Type, at place: DecodingPlace, _ location: DecodingLocation,
        checksClass: Bool = true
    ) throws -> Value {
        try spend(0, at: location)
        try checkNesting(of: place, location)
        let type = decodedType(requested)
        if let collection = type.facts.decodedCollection {
            return try collection.decode(as: Value.self, at: place, location, in: self)
        }
        if let foundation = type.facts.foundation {
            return try decode(Value.self, as: foundation, type, at: place, location)
        }
        if type.facts.isClass, place.uid != 0 {
            return try decodeInstance(requested, type, at: place, location, checksClass)
        }
        return try decodeVersion(requested, type, at: place, location, checksClass)
    }

    /// The decoder of a part whose type is unknown here.
    func decoder(at place: DecodingPlace, _ location: DecodingLocation) throws -> ValueDecoder {
        try spend(0, at: location)
        try checkNesting(of: place, location)
        return ValueDecoder(self, place, location, type: nil)
    }

    /// The single instance for an object and a class.
    private func decodeInstance<Value: Decodable>(
        _ requested: Value.Type, _ type: DecodedType, at place: DecodingPlace,
        _ location: DecodingLocation, _ checksClass: Bool
    ) throws -> Value {
        let actual = registeredSubclass(of: requested, type, at: place) ?? requested
        let instance = Instance(uid: place.uid, type: ObjectIdentifier(actual))
        if let known = instances[instance] as? Value { return known }
        let value = try decodeVersion(
            actual, actual == requested ? type : decodedType(actual), at: place, location,
            checksClass)
        instances[instance] = value as AnyObject
        return value
    }

    /// The class that was registered for an object's class name, if it is a subclass of the
    /// requested class.
    private func registeredSubclass<Value: Decodable>(
        of _: Value.Type, _ type: DecodedType, at place: DecodingPlace
    ) -> Value.Type? {
        guard !options.classes.isEmpty, let archived = archivedClass(of: place),
            let registered = registeredType(of: archived.name) as? Value.Type,
            decodedType(registered).facts.lineage.contains(where: { $0.type == type.facts.type })
        else { return nil }
        return registered
    }

    /// Decodes an object with the type of its version, and converts it to the current version.
    private func decodeVersion<Value: Decodable>(
        _ actual: Value.Type, _ type: DecodedType, at place: DecodingPlace,
        _ location: DecodingLocation,
        _ checksClass: Bool
    ) throws -> Value {
        let decoder = ValueDecoder(self, place, location, type: type, checksClass: checksClass)
        if let versioned = type.facts.version, !checksClass || isOwn(place, of: type),
            let version = try version(of: decoder)
        {
            guard version <= versioned.archiveVersion else {
                let problem = DecodingError.newerVersion(
                    version, than: versioned.archiveVersion, of: actual)
                throw error(problem, place, location)
            }
            if version < versioned.archiveVersion,
                let step = options.migration(to: ObjectIdentifier(actual), from: version)
            {
                let around = DecodingLocation(parent: decoder, key: .none)
                guard let value = try step.run(self, place, around) as? Value else {
                    preconditionFailure("A migration returned a value of another type.")
                }
                return value
            }
        }
        // Not `Value` itself: the type can be a subclass of it.
        return try actual.init(from: decoder)
    }

    /// Whether a value does not belong to a subclass.
    ///
    /// A subclass has its own versions.
    private func isOwn(_ place: DecodingPlace, of type: DecodedType) -> Bool {
        guard let archived = archivedClass(of: place) else { return true }
        return archived.known == .dictionary || isName(archived.name, of: type.facts)
    }

    /// The version that wrote an object; 0 if it has none.
    ///
    /// It is nil for a value that is not an object with fields.
    private func version(of decoder: ValueDecoder) throws -> Int? {
        guard try decoder.findEntries() else { return nil }
        let location = DecodingLocation(
            parent: decoder, key: .name(PathKey.name(archiveVersionField)))
        guard let field = decoder.field(archiveVersionField) else {
            try checkBudget(at: location)
            return 0
        }
        return try integer(at: resolve(field), location)
    }
}

// MARK: Types and classes

extension DecodingSession {
    func decodedType(_ type: Any.Type) -> DecodedType {
        if let last = lastTypes.0, last.facts.type == type { return last }
        if let last = lastTypes.1, last.facts.type == type { return last }
        // The last two types are not in the table.
        if let evicted = lastTypes.1 { types[ObjectIdentifier(evicted.facts.type)] = evicted }
        let known = types[ObjectIdentifier(type)] ?? DecodedType(TypeFacts.of(type))
        lastTypes = (known, lastTypes.0)
        return known
    }

    /// The class of an object; nil for a class record, and for what is not an object.
    func archivedClass(of place: DecodingPlace) -> ArchivedClass? {
        // Only in $objects is a $class known to be a class record.
        guard place.uid != 0, let fields = place.fields, affords(fields.count),
            let field = classReference(of: fields), case .uid(let uid) = list.value(at: field)
        else { return nil }
        if let last = lastClasses.0, last.uid == uid { return last }
        if let last = lastClasses.1, last.uid == uid { return last }
        if let evicted = lastClasses.1 { classes[evicted.uid] = evicted }
        lastClasses = (classes[uid] ?? newClass(uid), lastClasses.0)
        return lastClasses.0
    }

    private func classReference(of fields: Fields) -> ObjectIndex? {
        if let classKey, let position = list.position(of: classKey, in: fields.keys) {
            return fields.value(at: position, in: list)
        }
        guard let position = fields.position(of: "$class", in: list) else { return nil }
        classKey = fields.key(at: position, in: list)
        return fields.value(at: position, in: list)
    }

    private func newClass(_ uid: UInt64) -> ArchivedClass? {
        guard let record = Fields(of: list, at: archive.object(uid)), affords(record.count) else {
            return nil
        }
        return ArchivedClass(uid: uid, record: record, in: list)
    }

    /// Whether objects of a class are values of a type.
    func fits(_ archived: ArchivedClass, _ type: DecodedType) -> Bool {
        if type.fittingClass == archived.uid { return true }
        if type.otherClasses.contains(archived.uid) { return false }
        let superclasses = archived.superclasses
        guard affords(superclasses.count * Self.valueCost) else { return false }
        if isName(archived.name, of: type.facts)
            || superclasses.contains(where: { isName($0, of: type.facts) })
        {
            type.fittingClass = archived.uid
            return true
        }
        type.otherClasses.insert(archived.uid)
        return false
    }

    private func isName(_ name: ObjectIndex, of facts: TypeFacts) -> Bool {
        if list.isString(at: name, facts.name.unqualified) { return true }
        if list.isString(at: name, facts.name.qualified) { return true }
        if let foundation = facts.foundation, list.isString(at: name, foundation.className) {
            return true
        }
        return registeredType(of: name).map { $0 == facts.type } ?? false
    }

    /// The type that was registered for a class name.
    ///
    /// Names that are longer than all registered names are not read.
    private func registeredType(of name: ObjectIndex) -> (any Decodable.Type)? {
        guard let range = list.string(at: name), range.count <= options.longestClassName else {
            return nil
        }
        return options.classes[list.text(of: range)]
    }
}
