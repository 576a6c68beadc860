import DBus
import DefaultsCore
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms

/// The declarations of the contract, each with the method of the face that answers it.
extension BusFace {
    /// The interface for all programs.
    func interface() -> Interface {
        Interface(
            Contract.interface,
            methods: readingMethods + lookupMethods + changingMethods,
            signals: [
                ChangedSignal.declaration, ChangedValuesSignal.declaration,
                EndingSignal.declaration,
            ],
            properties: [
                property(Contract.version) { _ in .string(Version.current) },
                property(Contract.currentGeneration) { .uint64($0.store.generation.rawValue) },
                property(Contract.durableGeneration) {
                    .uint64($0.store.database.durableGeneration.rawValue)
                },
                property(Contract.recordStart) { .uint64($0.store.view.recordStart.rawValue) },
                property(Contract.pendingChanges) {
                    .uint32(UInt32(clamping: $0.store.database.pendingChanges))
                },
                property(Contract.storageError) { .string($0.store.storageError) },
                property(Contract.databasePath) { .string($0.store.database.path) },
                property(Contract.busAddress) { face in
                    .string(face.connection.uniqueName == nil ? "" : Address.ofSessionBus)
                },
                property(Contract.maximumValueSize) { _ in
                    .uint64(UInt64(ContractLimits.maximumValueSize))
                },
            ])
    }

    /// A method of the contract with what answers it.
    func method(_ declared: any Call.Type, answeredBy answer: @escaping Answer) -> Method {
        let declaration = declared.method
        // The connection calls handlers on the loop's thread.
        nonisolated(unsafe) let face = self
        return Method(declaration.name, in: declaration.input, out: declaration.output) { call in
            try face.carryOut(call, by: answer)
        }
    }

    private func property(
        _ declaration: PropertyDeclaration, read: @escaping @Sendable (BusFace) -> Value
    ) -> Property {
        nonisolated(unsafe) let face = self
        return Property(
            declaration.name, declaration.type, emitsChanged: declaration.emitsChanged
        ) {
            read(face)
        }
    }
}
