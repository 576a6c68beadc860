import DBus
import DefaultsFiles
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage

/// What a client needs to read without asking.
extension DefaultsObject {
    func attach(_ call: MethodCall) throws {
        try checkUnconfined(call)
        let domains = try call.arguments { arguments in
            var count = 0
            return try arguments.readArray {
                count += 1
                guard count <= Limits.maximumAttachedDomains else {
                    throw DefaultsError.tooManyDomains
                }
                let spelling = try $0.readString()
                return (spelling, try Domain(spelling, on: hosts))
            }
        }
        let page = FileDescriptor(owning: try database.openCounterPage())
        var room = Limits.maximumBulkSize
        try call.reply { reply in
            try reply.writeUnixFD(page)
            try reply.writeArray(of: "(sua{say}asas)") { array in
                for (spelling, domain) in domains {
                    try array.writeStructure {
                        try $0.writeString(spelling)
                        try self.write(domain, to: &$0, room: &room)
                    }
                    guard array.size <= Limits.maximumReplySize else {
                        throw DefaultsError(tooLargeDomains: domains.count)
                    }
                }
            }
            try reply.writeUInt64(database.generation.rawValue)
        }
    }

    /// Writes the rest of a domain's structure, behind its name.
    private func write(
        _ domain: Domain, to fields: inout MessageWriter, room: inout Int
    ) throws {
        let entries = try database.summaries(of: domain)
        noteWork(onEntries: entries.count)
        let selection = BulkSelection(of: entries, room: &room)
        try fields.writeUInt32(Database.counterSlot(of: domain))
        let damaged = try write(selection.sent, of: domain, to: &fields)
        try fields.writeStrings((selection.large + damaged).map(\.name))
        let managed = try Domain(name: domain.name, layer: .managed)
        try fields.writeStrings(lockedNames(by: managed))
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
