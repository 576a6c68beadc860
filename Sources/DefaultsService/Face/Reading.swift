import DBus
import DefaultsCore
import DefaultsFiles
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms
import SystemCalls

extension BusFace {
    /// The methods that read what is stored in one layer.
    var readingMethods: [Method] {
        [
            method(Contract.Get.self) { try $0.get($1) },
            method(Contract.GetValue.self) { try $0.getValue($1) },
            method(Contract.ListDomains.self) { try $0.listDomains($1) },
            method(Contract.ListKeys.self) { try $0.listKeys($1) },
            method(Contract.GetAll.self) { try $0.getAll($1) },
            method(Contract.GetAllValues.self) { try $0.getAllValues($1) },
            method(Contract.GetChanges.self) { try $0.getChanges($1) },
            method(Contract.GetTimes.self) { try $0.getTimes($1) },
            method(Contract.Attach.self) { try $0.attach($1, as: Contract.Attach.self) },
            method(Contract.AttachValues.self) {
                try $0.attach($1, as: Contract.AttachValues.self)
            },
            method(Contract.Follow.self) { try $0.follow($1, as: Contract.Follow.self) },
            method(Contract.FollowValues.self) {
                try $0.follow($1, as: Contract.FollowValues.self)
            },
            method(Contract.Unfollow.self) { try $0.unfollow($1) },
        ]
    }

    private func get(_ call: MethodCall) throws {
        let stored = try storedValue(
            call.arguments { try Contract.Get.readArguments(from: &$0, by: names) }, for: call)
        try call.reply {
            try Contract.Get.writeReply((stored.archive, stored.generation.rawValue), to: &$0)
        }
    }

    private func getValue(_ call: MethodCall) throws {
        let stored = try storedValue(
            call.arguments { try Contract.GetValue.readArguments(from: &$0, by: names) }, for: call)
        try reply(to: call, with: stored) {
            try Contract.GetValue.writeReply(($0, stored.generation.rawValue), to: &$1)
        }
    }

    /// Makes a D-Bus value from a stored archive, and replies with what the closure writes.
    func reply(
        to call: MethodCall, with stored: StoredValue,
        _ write: @escaping @Sendable (Value, inout MessageWriter) throws -> Void
    ) throws {
        guard stored.archive.count > Lanes.fewBytes, call.isReplyExpected else {
            let value = try Self.value(of: stored)
            return try call.reply { try write(value, &$0) }
        }
        try runOnLane(call, in: .conversions) { detached in
            let value = try Self.value(of: stored)
            try detached.write { try write(value, &$0) }
        } then: { _, _, detached, _ in
            try detached.sendReply()
        }
    }

    /// The stored archive as a D-Bus value.
    private static func value(of stored: StoredValue) throws -> Value {
        do {
            return try VariantForm.value(validating: stored.archive)
        } catch {
            // A few hundred bytes of shared objects can expand to millions of values.
            Memory.returnFreePages()
            throw error
        }
    }

    private func listDomains(_ call: MethodCall) throws {
        let isLong = try view(for: call).mayHaveMoreDomains(than: Lanes.fewKeys)
        try answer(call, isLong: isLong) { try $0.writeDomains(to: &$1) }
    }

    /// Reads what is stored for a key.
    private func storedValue(
        _ arguments: (domain: Domain, key: Key), for call: MethodCall
    ) throws -> StoredValue {
        let (domain, key) = arguments
        guard let stored = try view(for: call, of: domain).value(domain, key) else {
            throw ContractError(noKey: key, in: domain, on: hosts)
        }
        return stored
    }

    /// How the names in calls are read that change nothing.
    var names: CheckedNames { settings.names }
}

/// Methods that read whole domains.
///
/// The contents are counted first. What cannot fit into a reply is refused before it is read. What
/// takes long is read on another thread.
extension BusFace {
    private func listKeys(_ call: MethodCall) throws {
        let domain = try call.arguments {
            try Contract.ListKeys.readArguments(from: &$0, by: names)
        }
        let totals = try replySize(of: domain, in: view(for: call, of: domain))
        if let totals = totals.certain {
            try NamesSize.check(
                totals.keys, size: NamesSize.size(of: totals), room: ContractLimits.maximumReplySize
            )
        }
        try answer(call, isLong: totals.isLong) { try $0.writeKeys(of: domain, to: &$1) }
    }

    private func getAll(_ call: MethodCall) throws {
        let domain = try call.arguments {
            try Contract.GetAll.readArguments(from: &$0, by: names)
        }
        let totals = try replySize(of: domain, in: view(for: call, of: domain))
        if let totals = totals.certain {
            let perKey = DomainReading.entryOverhead + DomainReading.smallestArchive
            guard totals.nameBytes + perKey * totals.keys <= ContractLimits.maximumReplySize else {
                throw ContractError(tooLargeDomain: domain, on: hosts)
            }
        }
        try answer(call, isLong: totals.isLong) { try $0.writeAll(of: domain, to: &$1) }
    }

    private func getAllValues(_ call: MethodCall) throws {
        let domain = try call.arguments {
            try Contract.GetAllValues.readArguments(from: &$0, by: names)
        }
        let totals = try replySize(of: domain, in: view(for: call, of: domain))
        if let totals = totals.certain {
            // Each key needs at least one value, or one name in the list.
            guard totals.keys <= ValueBudget.domain.values,
                NamesSize.size(of: totals) <= ContractLimits.maximumReplySize
            else { throw ContractError(tooLargeDomain: domain, on: hosts) }
        }
        let isLong = totals.isLong || totals.isLarge
        try answer(call, isLong: isLong) { try $0.writeAllValues(of: domain, to: &$1) }
    }

    private func getChanges(_ call: MethodCall) throws {
        let (domain, number) = try call.arguments {
            try Contract.GetChanges.readArguments(from: &$0, by: names)
        }
        let since = Generation(rawValue: number)
        let isLong = try view(for: call, of: domain).hasMoreChanges(
            than: Lanes.fewKeys, of: domain, since: since)
        try answer(call, isLong: isLong) { try $0.writeChanges(of: domain, since: since, to: &$1) }
    }

    private func getTimes(_ call: MethodCall) throws {
        let (domain, keys) = try call.arguments {
            try Contract.GetTimes.readArguments(from: &$0, by: names)
        }
        settings.memory.noteWork(onEntries: keys.count)
        // This notes a program that may not read the domain.
        _ = view(for: call, of: domain)
        try answer(call, isLong: keys.count > Lanes.fewKeys) {
            try $0.writeTimes(of: keys, in: domain, to: &$1)
        }
    }

    /// The size of a domain, before it is read.
    struct ReplySize {
        /// The totals; nil if they may be larger than those of the keys in the reply.
        let certain: KeyTotals?
        let isLong: Bool
        /// Whether few keys have values that take long to convert.
        let isLarge: Bool
    }

    func replySize(of domain: Domain, in view: DatabaseView) throws -> ReplySize {
        let totals = try view.totals(of: domain)
        settings.memory.noteWork(onEntries: totals.keys)
        // The totals are not certain in two cases: somebody has altered the database, or the layer
        // is made from files, whose record is counted and not listed.
        let isCertain =
            domain.layer.isWritable && totals.keys <= totals.nameBytes
            && totals.nameBytes <= ContractLimits.maximumNameBytes
        return ReplySize(
            certain: isCertain ? totals : nil, isLong: totals.keys > Lanes.fewKeys,
            isLarge: totals.valueBytes > Lanes.fewBytes)
    }
}

/// Attach and Follow, for clients that read without calls.
extension BusFace {
    private func attach(_ call: MethodCall, as form: any AttachCall.Type) throws {
        try checkUnconfined(call)
        try replyWithDomains(to: call, as: form) { _ in }
    }

    private func follow(_ call: MethodCall, as form: any AttachCall.Type) throws {
        try checkUnconfined(call)
        guard call.sender == nil else { throw Self.onlyWithoutBus }
        guard call.connection.assumeIsolated({ $0.carriesDescriptors }) else {
            throw DBusError.noDescriptors
        }
        try replyWithDomains(to: call, as: form) {
            try followers.add(
                $0.map(\.domain.name), for: call.connection, of: call.credentials?.processID,
                gettingValues: form is any ArchiveAttachCall.Type)
        }
    }

    private func unfollow(_ call: MethodCall) throws {
        try checkUnconfined(call)
        let names = try call.arguments { try Contract.Unfollow.readArguments(from: &$0) }
        followers.remove(
            try names.map { try self.names.domain($0).name }, of: ObjectIdentifier(call.connection))
        try call.reply()
    }

    private static let onlyWithoutBus = DBusError(
        "org.freedesktop.DBus.Error.NotSupported",
        "Follow and FollowValues work on a connection to the daemon itself. On a bus, call Attach or "
            + "AttachValues, and add a match rule for the signal Changed.")

    /// Replies with the page and whole domains.
    ///
    /// - Parameter prepare: Called with the domains before the reply is made.
    private func replyWithDomains(
        to call: MethodCall, as form: any AttachCall.Type,
        _ prepare: ([DomainReading.Attached]) throws -> Void
    ) throws {
        let hasValues = form is any ValueAttachCall.Type
        var keys = 0
        var bytes = 0
        let domains = try call.arguments {
            try form.readArguments(from: &$0) { spelling in
                let domain = try names.domain(spelling)
                let mayHaveKeys = layers.mayHaveKeys(domain)
                if mayHaveKeys {
                    let totals = try store.database.totals(of: domain)
                    keys += totals.keys
                    bytes += totals.valueBytes
                }
                let managed = try Domain(name: domain.name, layer: .managed)
                return DomainReading.Attached(
                    spelling: spelling, domain: domain, mayHaveKeys: mayHaveKeys,
                    locked: try lockedNames(by: managed))
            }
        }
        let page = FileDescriptor(owning: try store.database.openCounterPage())
        try prepare(domains)
        let isLarge = hasValues && bytes > Lanes.fewBytes
        try answer(call, isLong: isLarge || keys > Lanes.fewKeys) {
            if hasValues {
                try $0.writeValues(domains, page: page, to: &$1)
            } else {
                try $0.write(domains, page: page, to: &$1)
            }
        }
    }

    /// The keys and prefixes that a managed layer locks, as clients get them.
    ///
    /// A locked key that ends with `*` is left out, because a client would take it for a prefix.
    /// The service refuses it all the same.
    private func lockedNames(by managed: Domain) throws -> [String] {
        guard layers.mayHaveKeys(managed) else { return [] }
        let values = try store.database.keys(of: managed).map(\.name)
            .filter { $0.utf8.last != UInt8(ascii: "*") }
        return try (settings.locks.record(of: managed)?.locks.map(\.pattern) ?? []) + values
    }
}
