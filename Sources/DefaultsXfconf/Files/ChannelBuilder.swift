internal import DBus
internal import DefaultsModel
internal import DefaultsTerms
internal import DefaultsTerms

/// Makes a channel's properties from the elements of its file.
///
/// Invariants:
/// 1. The number of properties and elements is limited, and so is the length of a name. So the
///    depth of a file is limited, too.
/// 2. An attribute that is not known is an error: it could be a misspelt lock.
struct ChannelBuilder {
    /// A fault, before its place is known.
    struct Fault: Error {
        let message: String
        var isTooLarge = false
    }

    /// A property whose element is open.
    private struct Frame {
        let key: Key
        /// The elements of an array; nil for another type.
        var elements: [Value]?
    }

    private static let mostProperties = 1 << 16

    private let user: UserNames
    private var isLocked = false
    private var hasChannel = false
    private var frames: [Frame] = []
    private var isInElement = false
    private var properties: [ChannelFile.Property] = []
    /// The positions of the properties; the last one of a name counts.
    private var positions: [Key: Int] = [:]
    private var room = mostProperties

    init(for user: UserNames) {
        self.user = user
    }

    /// The contents, after the document has ended.
    func finish() -> ChannelFile {
        ChannelFile(
            properties: properties.filter { $0.value != nil || $0.isLocked }, isLocked: isLocked)
    }

    mutating func begin(_ element: String, _ attributes: [String: String]) throws(Fault) {
        room -= 1
        guard room >= 0 else {
            throw Fault(
                message: "There are more than \(Self.mostProperties) elements.", isTooLarge: true)
        }
        guard !isInElement else { throw Fault(message: "A <value> is empty.") }
        switch element {
        case "channel" where !hasChannel: try beginChannel(attributes)
        case "property" where hasChannel: try beginProperty(attributes)
        case "value" where frames.last?.elements != nil: try addElement(attributes)
        default:
            throw Fault(message: "The element \(element.quotedForMessage) is not expected here.")
        }
    }

    mutating func end(_ element: String) {
        switch element {
        case "value": isInElement = false
        case "property": endProperty()
        default: break
        }
    }

    private mutating func beginChannel(_ attributes: [String: String]) throws(Fault) {
        let attributes = try Attributes(attributes, of: "channel", known: ["name", "version"])
        _ = try attributes.required("name")
        let version = try attributes.required("version")
        guard version.split(separator: ".", omittingEmptySubsequences: false).first == "1" else {
            throw Fault(message: "The version is not 1.0.")
        }
        isLocked = attributes.lock(user)
        hasChannel = true
    }

    private mutating func beginProperty(_ attributes: [String: String]) throws(Fault) {
        let attributes = try Attributes(
            attributes, of: "property", known: ["name", "type", "value"])
        let name = (frames.last?.key.name ?? "") + "/" + (try attributes.required("name"))
        let key: Key
        do throws(ModelError) {
            key = try Key(name)
        } catch {
            throw Fault(message: error.description)
        }
        let type = try attributes.required("type")
        frames.append(Frame(key: key, elements: type == "array" ? [] : nil))
        let isScalar = type != "array" && type != "empty"
        let value = isScalar ? PropertyValue(try attributes.scalar(type)) : nil
        add(ChannelFile.Property(key: key, value: value, isLocked: attributes.lock(user)))
    }

    private mutating func add(_ property: ChannelFile.Property) {
        if let position = positions[property.key] {
            properties[position].value = property.value
            properties[position].isLocked = property.isLocked
        } else {
            positions[property.key] = properties.count
            properties.append(property)
        }
    }

    private mutating func endProperty() {
        guard let frame = frames.popLast(), let elements = frame.elements,
            let position = positions[frame.key]
        else { return }
        properties[position].value = PropertyValue(
            .array(of: "v", elements.map(Value.variant)))
    }

    private mutating func addElement(_ attributes: [String: String]) throws(Fault) {
        let attributes = try Attributes(
            attributes, of: "value", known: ["type", "value"], canLock: false)
        let element = try attributes.scalar(try attributes.required("type"))
        frames[frames.count - 1].elements?.append(element)
        isInElement = true
    }
}

/// The attributes of an element.
private struct Attributes {
    private let values: [String: String]
    private let element: String

    init(
        _ values: [String: String], of element: String, known: Set<String>, canLock: Bool = true
    ) throws(ChannelBuilder.Fault) {
        self.values = values
        self.element = element
        let all = canLock ? known.union(["locked", "unlocked"]) : known
        guard let other = values.keys.filter({ !all.contains($0) }).min() else { return }
        throw ChannelBuilder.Fault(
            message: "<\(element)> has no attribute \(other.quotedForMessage).")
    }

    func required(_ name: String) throws(ChannelBuilder.Fault) -> String {
        guard let value = values[name], !value.isEmpty else {
            throw ChannelBuilder.Fault(message: "<\(element)> needs the attribute '\(name)'.")
        }
        return value
    }

    /// Whether the element locks something for a user.
    ///
    /// Its attribute `unlocked` names those who may change it, and is stronger than `locked`.
    func lock(_ user: UserNames) -> Bool {
        if let list = values["unlocked"], !list.isEmpty { return !user.areIn(list) }
        return values["locked"].map(user.areIn) ?? false
    }

    func scalar(_ type: String) throws(ChannelBuilder.Fault) -> Value {
        guard let type = ScalarType(rawValue: type) else {
            throw ChannelBuilder.Fault(
                message: "<\(element)> has the unknown type \(type.quotedForMessage).")
        }
        guard let value = type.value(values["value"] ?? "") else {
            throw ChannelBuilder.Fault(
                message: "The value of <\(element)> is not of its type, '\(type.rawValue)'.")
        }
        return value
    }
}
