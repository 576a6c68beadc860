import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage

extension DefaultsObject {
    /// The contract's declarations, each with the method here that answers it.
    func interface() -> Interface {
        Interface(
            Contract.interface,
            methods: [
                method(Contract.get) { try $0.get($1) },
                method(Contract.set) { try $0.set($1) },
                method(Contract.remove) { try $0.remove($1) },
                method(Contract.rename) { try $0.rename($1) },
                method(Contract.getValue) { try $0.getValue($1) },
                method(Contract.setValue) { try $0.setValue($1) },
                method(Contract.lookup) { try $0.lookup($1) },
                method(Contract.lookupValue) { try $0.lookupValue($1) },
                method(Contract.isLocked) { try $0.isLocked($1) },
                method(Contract.explain) { try $0.explain($1) },
                method(Contract.listDomains) { try $0.listDomains($1) },
                method(Contract.listKeys) { try $0.listKeys($1) },
                method(Contract.getAll) { try $0.getAll($1) },
                method(Contract.getAllValues) { try $0.getAllValues($1) },
                method(Contract.removeDomain) { try $0.removeDomain($1) },
                method(Contract.getChanges) { try $0.getChanges($1) },
                method(Contract.apply) { try $0.apply($1) },
                method(Contract.applyValues) { try $0.applyValues($1) },
                method(Contract.synchronize) { $0.synchronize($1) },
                method(Contract.attach) { try $0.attach($1) },
            ],
            signals: [Contract.changed],
            properties: [
                property(Contract.version) { _ in .string(Version.current) },
                property(Contract.currentGeneration) { .uint64($0.database.generation.rawValue) },
                property(Contract.durableGeneration) {
                    .uint64($0.database.durableGeneration.rawValue)
                },
                property(Contract.pendingChanges) {
                    .uint32(UInt32(clamping: $0.database.pendingChanges))
                },
                property(Contract.storageError) { .string($0.trouble.sentence) },
                property(Contract.databasePath) { .string($0.database.path) },
                property(Contract.maximumValueSize) { _ in
                    .uint64(UInt64(Limits.maximumValueSize))
                },
            ])
    }

    /// The connection calls handlers on the loop's thread, which is where this actor lives.
    func method(
        _ declaration: MethodDeclaration,
        answeredBy answer: @escaping Answer
    ) -> Method {
        Method(declaration.name, in: declaration.input, out: declaration.output) { call in
            try self.assumeIsolated { try $0.carryOut(call, by: answer) }
        }
    }

    private func property(
        _ declaration: PropertyDeclaration,
        read: @escaping @Sendable (isolated DefaultsObject) -> Value
    ) -> Property {
        Property(
            declaration.name, declaration.type, emitsChanged: declaration.emitsChanged
        ) {
            self.assumeIsolated(read)
        }
    }
}
