import DBus
import DefaultsCore
import DefaultsModel
import DefaultsProtocol
import KeyedArchive

/// Methods that change something.
extension BusFace {
    /// The methods that change something, and the one that waits until changes are on disk.
    var changingMethods: [Method] {
        [
            method(Contract.Set.self) { try $0.set($1) },
            method(Contract.SetValue.self) { try $0.setValue($1) },
            method(Contract.Remove.self) { try $0.remove($1) },
            method(Contract.Rename.self) { try $0.rename($1) },
            method(Contract.RemoveDomain.self) { try $0.removeDomain($1) },
            method(Contract.Apply.self) { face, call in
                try face.apply(call) {
                    try PreparedTransaction(
                        Contract.Apply.readArguments(from: &$0, by: $1),
                        archive: KeyedArchive.init(storing:))
                }
            },
            method(Contract.ApplyValues.self) { face, call in
                try face.apply(call) {
                    try PreparedTransaction(
                        Contract.ApplyValues.readArguments(from: &$0, by: $1),
                        archive: ContractError.checkedSize(of:))
                }
            },
            method(Contract.ApplyAll.self) { face, call in
                try face.apply(call) {
                    try PreparedTransaction(
                        Contract.ApplyAll.readArguments(from: &$0, by: $1),
                        archive: KeyedArchive.init(storing:))
                }
            },
            method(Contract.ApplyAllValues.self) { face, call in
                try face.apply(call) {
                    try PreparedTransaction(
                        Contract.ApplyAllValues.readArguments(from: &$0, by: $1),
                        archive: ContractError.checkedSize(of:))
                }
            },
            method(Contract.Synchronize.self) { $0.synchronize($1) },
        ]
    }

    private func set(_ call: MethodCall) throws {
        try prepare(call) { arguments, names in
            let (domain, key, bytes) = try Contract.Set.readArguments(from: &arguments, by: names)
            return (domain: domain, key: key, archive: try KeyedArchive(storing: bytes))
        } then: { face, call, arguments in
            try face.settings.set(
                arguments.domain, arguments.key, to: arguments.archive, by: face.caller(of: call)
            ) { call.answer($0) }
        }
    }

    private func setValue(_ call: MethodCall) throws {
        try prepare(call) {
            try Contract.SetValue.readArguments(from: &$0, by: $1)
        } then: { face, call, arguments in
            try face.settings.set(
                arguments.domain, arguments.key, to: arguments.archive, by: face.caller(of: call)
            ) { call.answer($0) }
        }
    }

    private func remove(_ call: MethodCall) throws {
        let (domain, key) = try call.arguments {
            try Contract.Remove.readArguments(from: &$0, by: changingNames(for: call))
        }
        try settings.remove(key, of: domain, by: caller(of: call)) { call.answer($0) }
    }

    private func rename(_ call: MethodCall) throws {
        let (domain, old, new) = try call.arguments {
            try Contract.Rename.readArguments(from: &$0, by: changingNames(for: call))
        }
        try settings.rename(old, to: new, of: domain, by: caller(of: call)) { call.answer($0) }
    }

    private func removeDomain(_ call: MethodCall) throws {
        let domain = try call.arguments {
            try Contract.RemoveDomain.readArguments(from: &$0, by: changingNames(for: call))
        }
        try settings.removeDomain(domain, by: caller(of: call)) { call.answer($0) }
    }

    private func synchronize(_ call: MethodCall) {
        settings.synchronize { [self] outcome in
            // The call stays on this thread.
            nonisolated(unsafe) let call = call
            start { service in
                await service.face.signalsSent()
                call.answer(outcome)
            }
        }
    }

    /// Reads the arguments of a change and makes archives from them, on another thread if they are
    /// large, and continues on the loop.
    ///
    /// - Parameter isSlow: Whether it takes long even if they are small.
    func prepare<Arguments: Sendable>(
        _ call: MethodCall, isSlow: Bool = false,
        _ read: @escaping @Sendable (inout MessageReader, CheckedNames) throws -> Arguments,
        then change: @escaping @Sendable (BusFace, MethodCall, Arguments) throws -> Void
    ) throws {
        let names = changingNames(for: call)
        guard isSlow || call.size > Lanes.fewBytes else {
            return try change(self, call, call.arguments { try read(&$0, names) })
        }
        try runOnLane(call, in: .conversions) { detached in
            try detached.arguments { try read(&$0, names) }
        } then: { face, call, _, arguments in
            try change(face, call, arguments)
        }
    }

    /// The caller of a method whose changes come later: its program is looked up while it waits.
    func noted(_ call: MethodCall) -> Caller {
        let caller = caller(of: call)
        settings.writers.identify(caller)
        return caller
    }
}

/// Methods that change several keys at once.
extension BusFace {
    /// Makes the change of a transaction, whatever form its values have.
    private func apply(
        _ call: MethodCall,
        _ read:
            @escaping @Sendable (inout MessageReader, CheckedNames) throws -> PreparedTransaction
    ) throws {
        try prepare(call, read) { face, call, transaction in
            try face.settings.apply(transaction, by: face.caller(of: call)) { call.answer($0) }
        }
    }
}

extension MethodCall {
    /// Replies with the generation of a change, or with the error.
    fileprivate func answer(_ outcome: Settings.Outcome) {
        switch outcome {
        case .success(let generation):
            // If the reply cannot be sent, the caller has got an error instead, or has left.
            try? reply { try GenerationReply.write(generation.rawValue, to: &$0) }
        case .failure(let error): fail(error)
        }
    }
}

extension ContractError {
    /// An archive that is not above the size limit.
    fileprivate static func checkedSize(of archive: KeyedArchive) throws -> KeyedArchive {
        try checkSize(of: archive)
        return archive
    }
}
