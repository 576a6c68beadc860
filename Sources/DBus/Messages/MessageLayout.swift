// Invariants
//
// 1. What the layout accepts, libdbus accepts without a complaint, and so does a bus.
// 2. If a step throws, the message is unusable: every later step throws the same error.
// 3. No value is nested in more than 64 containers. An array whose elements are of fixed size does
//    not count: a receiver checks it as one block and does not examine its elements.

/// Decides, before libdbus is asked, whether a value may be written next.
///
/// libdbus ends the process when a value does not fit the signature, and lets through messages for
/// which a bus throws the sender off. This keeps account of types, nesting and sizes instead.
struct MessageLayout {
    /// The contents of one array or variant that is open, whose types were told when it was opened.
    private struct Scope {
        let types: String.UTF8View
        var position: String.UTF8View.Index
        let repeats: Bool
        let start: Int
    }

    /// The types at the top of the message, which nobody told beforehand.
    private(set) var signature: [UInt8] = []
    private(set) var size = 0
    private var scopes: [Scope] = []
    private var depth = 0
    private var descriptors = 0
    private let maximumSize: Int
    private(set) var failure: DBusError?

    /// - Parameter path: The object path of the message, the one part of its header without limit.
    init(path: ObjectPath? = nil) {
        let header = MessageLimits.headerAllowance + (path?.string.utf8.count ?? 0)
        maximumSize = MessageLimits.maximumMessage - header
    }

    /// Takes a step; if it throws, now or in an earlier step, the message is spoiled.
    mutating func step(
        _ body: (inout MessageLayout) throws(DBusError) -> Void
    ) throws(DBusError) {
        if let failure { throw failure }
        do {
            try body(&self)
        } catch {
            failure = error
            throw error
        }
    }

    /// Notes that something failed which the layout did not decide.
    mutating func spoil(_ error: any Error) {
        failure = failure ?? error as? DBusError ?? .spoiled
    }

    // MARK: Values

    /// A value that holds no others; `size` is what follows its alignment.
    mutating func value(_ type: TypeCode, size: Int) throws(DBusError) {
        try begin(type)
        try claim(CollectionOfOne(type.rawValue))
        try grow(by: size)
        if type == .unixFD {
            descriptors += 1
            guard descriptors <= MessageLimits.maximumDescriptors else { throw .tooManyDescriptors }
        }
    }

    /// An array of bytes, written as one block.
    mutating func bytes(count: Int) throws(DBusError) {
        try begin(.array)
        try claim("ay".utf8)
        guard count <= MessageLimits.maximumArray else { throw .arrayTooLong }
        try grow(by: 4 + count)
    }

    // MARK: Containers

    mutating func openArray(of element: Signature) throws(DBusError) {
        guard element.isSingleType, let type = element.firstCode else { throw .notSingleType }
        try begin(.array)
        try claim(element.asArray.string.utf8)
        try grow(by: 4)
        try align(to: type.alignment)
        open(element, repeats: true)
        if !type.isFixed { depth += 1 }
    }

    mutating func closeArray(of element: Signature) throws(DBusError) {
        let scope = try close {
            $0.position == $0.types.endIndex || $0.position == $0.types.startIndex
        }
        guard size - scope.start <= MessageLimits.maximumArray else { throw .arrayTooLong }
        if element.firstCode?.isFixed == false { depth -= 1 }
    }

    mutating func openVariant(of type: Signature) throws(DBusError) {
        guard type.isSingleType else { throw .notSingleType }
        try begin(.variant)
        try claim("v".utf8)
        try grow(by: 1 + type.string.utf8.count + 1)
        open(type, repeats: false)
        depth += 1
    }

    mutating func closeVariant() throws(DBusError) {
        _ = try close { $0.position == $0.types.endIndex }
        depth -= 1
    }

    mutating func openStructure() throws(DBusError) {
        try begin(.structure)
        try claim("(".utf8)
        depth += 1
    }

    mutating func closeStructure() throws(DBusError) {
        guard !scopes.isEmpty || signature.last != UInt8(ascii: "(") else { throw .emptyStructure }
        try claim(")".utf8)
        depth -= 1
    }

    mutating func openEntry() throws(DBusError) {
        // An entry can only be in an array, which has announced its type.
        guard !scopes.isEmpty else {
            throw .wrongType(writing: "{", expected: "an array of entries")
        }
        try begin(.dictionaryEntry)
        try claim("{".utf8)
        depth += 1
    }

    mutating func closeEntry() throws(DBusError) {
        try claim("}".utf8)
        depth -= 1
    }

    /// The signature of the whole, once everything is written.
    func finish() throws(DBusError) -> Signature {
        if let failure { throw failure }
        return try Signature(String(decoding: signature, as: UTF8.self))
    }

    /// What the message counts as in an account of bytes.
    var weight: Int {
        MessageLimits.headerWeight + size + descriptors * MessageLimits.descriptorWeight
    }

    // MARK: Accounts

    private mutating func begin(_ type: TypeCode) throws(DBusError) {
        guard depth <= MessageLimits.maximumDepth else { throw .nestedTooDeeply }
        try align(to: type.alignment)
    }

    private mutating func align(to alignment: Int) throws(DBusError) {
        try grow(by: (alignment - size % alignment) % alignment)
    }

    private mutating func grow(by count: Int) throws(DBusError) {
        guard count <= maximumSize - size else { throw .messageTooLong }
        size += count
    }

    /// Checks that these types are due, or, at the top of the message, notes them.
    private mutating func claim(_ types: some Collection<UInt8>) throws(DBusError) {
        guard var scope = scopes.popLast() else { return try note(types) }
        if scope.repeats && scope.position == scope.types.endIndex {
            scope.position = scope.types.startIndex
        }
        let due = scope.types[scope.position...]
        guard due.starts(with: types) else {
            throw .wrongType(
                writing: String(decoding: types, as: UTF8.self),
                expected: due.isEmpty ? "nothing more" : String(Substring(due)))
        }
        scope.position = scope.types.index(scope.position, offsetBy: types.count)
        scopes.append(scope)
    }

    private mutating func note(_ types: some Collection<UInt8>) throws(DBusError) {
        signature.append(contentsOf: types)
        guard signature.count <= Signature.maximumLength else {
            throw .badSignature(String(decoding: signature, as: UTF8.self))
        }
    }

    private mutating func open(_ types: Signature, repeats: Bool) {
        let types = types.string.utf8
        scopes.append(
            Scope(types: types, position: types.startIndex, repeats: repeats, start: size))
    }

    private mutating func close(_ isComplete: (Scope) -> Bool) throws(DBusError) -> Scope {
        guard let scope = scopes.popLast() else {
            preconditionFailure("A container was closed that was not opened.")
        }
        guard isComplete(scope) else {
            throw .incomplete(expected: String(Substring(scope.types[scope.position...])))
        }
        return scope
    }
}
