import DBus
import DefaultsFiles
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage

/// What a client needs to read without asking.
extension DefaultsObject {
    func attach(_ call: MethodCall) throws {
        try checkUnconfined(call)
        var keys = 0
        let domains = try call.arguments {
            try Contract.Attach.readArguments(from: &$0) { spelling in
                let domain = try names.domain(spelling)
                keys += try database.totals(of: domain).keys
                let managed = try Domain(name: domain.name, layer: .managed)
                return DomainReading.Attached(
                    spelling: spelling, domain: domain, locked: try lockedNames(by: managed))
            }
        }
        let page = FileDescriptor(owning: try database.openCounterPage())
        try answer(call, isLong: keys > LongCalls.fewKeys) {
            try $0.write(domains, page: page, to: &$1)
        }
    }

    /// The keys and prefixes that a managed layer locks, as clients are told of them.
    ///
    /// A key that ends as a prefix does is left out, as it would seem to lock others. The service
    /// refuses it all the same.
    private func lockedNames(by managed: Domain) throws -> [String] {
        guard layers.mayHaveKeys(managed) else { return [] }
        let values = try database.keys(of: managed).map(\.name)
            .filter { $0.utf8.last != UInt8(ascii: "*") }
        return try (fileRecord(of: managed)?.locks.map(\.pattern) ?? []) + values
    }
}
