import DBus
import DefaultsProtocol

/// What only the project's own tool asks for.
extension DefaultsObject {
    /// The interface beside the contract's, every method of it closed to callers in a sandbox.
    func maintenanceInterface() -> Interface {
        Interface(
            Contract.maintenanceInterface,
            methods: [
                method(Contract.getStatistics) { object, call in
                    try object.checkUnconfined(call)
                    try object.getStatistics(call)
                }
            ])
    }

    private func getStatistics(_ call: MethodCall) throws {
        let facts = statistics.facts(of: database)
        try call.reply { try $0.writeValue(.dictionary(key: "s", value: "v", facts)) }
    }
}
