import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms

extension DefaultsObject {
    /// The contract's declarations, each with the method here that answers it.
    func interface() -> Interface {
        Interface(
            Contract.interface,
            methods: [
                method(Contract.Get.self) { try $0.get($1) },
                method(Contract.Set.self) { try $0.set($1) },
                method(Contract.Remove.self) { try $0.remove($1) },
                method(Contract.Rename.self) { try $0.rename($1) },
                method(Contract.GetValue.self) { try $0.getValue($1) },
                method(Contract.SetValue.self) { try $0.setValue($1) },
                method(Contract.Lookup.self) { try $0.lookup($1) },
                method(Contract.LookupValue.self) { try $0.lookupValue($1) },
                method(Contract.IsLocked.self) { try $0.isLocked($1) },
                method(Contract.Explain.self) { try $0.explain($1) },
                method(Contract.ListDomains.self) { try $0.listDomains($1) },
                method(Contract.ListKeys.self) { try $0.listKeys($1) },
                method(Contract.GetAll.self) { try $0.getAll($1) },
                method(Contract.GetAllValues.self) { try $0.getAllValues($1) },
                method(Contract.RemoveDomain.self) { try $0.removeDomain($1) },
                method(Contract.GetChanges.self) { try $0.getChanges($1) },
                method(Contract.Apply.self) { try $0.apply($1) },
                method(Contract.ApplyValues.self) { try $0.applyValues($1) },
                method(Contract.Synchronize.self) { $0.synchronize($1) },
                method(Contract.Attach.self) { try $0.attach($1) },
            ],
            signals: [ChangedSignal.declaration],
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
                    .uint64(UInt64(ContractLimits.maximumValueSize))
                },
            ])
    }

    /// The connection calls handlers on the loop's thread, which is where this actor lives.
    func method(_ call: any Call.Type, answeredBy answer: @escaping Answer) -> Method {
        let declaration = call.method
        return Method(declaration.name, in: declaration.input, out: declaration.output) { call in
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
