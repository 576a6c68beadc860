/// Well-known names.
extension Connection {
    /// How a name is asked for.
    public struct NameFlags: OptionSet, Sendable {
        /// The bits, as the bus takes them.
        public let rawValue: UInt32

        /// Makes flags of their bits.
        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// Another may take the name over that asks with ``replaceExisting``.
        public static let allowReplacement = NameFlags(rawValue: 1)
        /// Take the name over from an owner that allows it.
        public static let replaceExisting = NameFlags(rawValue: 2)
        /// Do not wait in the queue behind the owner.
        public static let doNotQueue = NameFlags(rawValue: 4)
    }

    /// What became of the request for a name.
    public enum NameReply: UInt32, Sendable {
        /// The connection owns the name now.
        case primaryOwner = 1
        /// The connection waits behind the owner.
        case inQueue = 2
        /// Another owns the name.
        case exists = 3
        /// The connection owned the name before.
        case alreadyOwner = 4
    }

    /// What became of a name that was given back.
    public enum NameRelease: UInt32, Sendable {
        /// The connection does not own the name any more.
        case released = 1
        /// Nobody owned the name.
        case nonExistent = 2
        /// Another owns the name.
        case notOwner = 3
    }

    /// Asks the bus for a well-known name.
    ///
    /// Calls to the name may arrive before this returns: export what they are for beforehand.
    ///
    /// - Throws: ``DBusError``, of the name `AccessDenied` where the bus does not allow it.
    public func requestName(_ name: BusName, _ flags: NameFlags = []) async throws -> NameReply {
        try await callBus("RequestName") { writer in
            try writer.writeString(name.string)
            try writer.writeUInt32(flags.rawValue)
        } read: {
            try $0.readCode()
        }
    }

    /// Gives a well-known name back.
    ///
    /// - Throws: ``DBusError`` where the bus cannot be asked.
    @discardableResult
    public func releaseName(_ name: BusName) async throws -> NameRelease {
        try await callBus("ReleaseName") {
            try $0.writeString(name.string)
        } read: {
            try $0.readCode()
        }
    }

    /// Calls a closure on the loop's thread each time when the bus says that a well-known name is not
    /// ours any more: another has taken it over, or we have given it back.
    ///
    /// Every call that was sent to the name while we had it has come by then.
    public func onNameLost(_ name: BusName, _ handler: @escaping @Sendable () -> Void) {
        nameLostHandlers[name, default: []].append(handler)
    }

    /// Tells of a name that is lost, if that is what a message of the bus says.
    func noteLostName(_ message: borrowing Message) {
        guard !nameLostHandlers.isEmpty, !link.isDirect, let name = message.lostName else { return }
        for handler in nameLostHandlers[name] ?? [] { handler() }
    }
}

extension MessageReader {
    /// Reads a number that is one of a few.
    fileprivate mutating func readCode<Code: RawRepresentable<UInt32>>() throws(DBusError) -> Code {
        let number = try readUInt32()
        guard let code = Code(rawValue: number) else { throw .unknownCode(number) }
        return code
    }
}
