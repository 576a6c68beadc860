import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms

/// Reads of whole domains.
///
/// What a domain has is counted first: what cannot fit into a reply is refused before any of it is read,
/// and what takes long is read on another thread.
extension DefaultsObject {
    func listKeys(_ call: MethodCall) throws {
        let domain = try call.arguments {
            try Contract.ListKeys.readArguments(from: &$0, by: names)
        }
        let totals = try countedTotals(of: domain)
        if let totals = totals.certain {
            try NamesSize.check(
                totals.keys, size: NamesSize.size(of: totals), room: ContractLimits.maximumReplySize
            )
        }
        try answer(call, isLong: totals.isLong) { try $0.writeKeys(of: domain, to: &$1) }
    }

    func getAll(_ call: MethodCall) throws {
        let domain = try call.arguments {
            try Contract.GetAll.readArguments(from: &$0, by: names)
        }
        let totals = try countedTotals(of: domain)
        if let totals = totals.certain {
            let perKey = DomainReading.entryOverhead + DomainReading.smallestArchive
            guard totals.nameBytes + perKey * totals.keys <= ContractLimits.maximumReplySize else {
                throw DefaultsError(tooLargeDomain: domain, on: hosts)
            }
        }
        try answer(call, isLong: totals.isLong) { try $0.writeAll(of: domain, to: &$1) }
    }

    func getAllValues(_ call: MethodCall) throws {
        let domain = try call.arguments {
            try Contract.GetAllValues.readArguments(from: &$0, by: names)
        }
        let totals = try countedTotals(of: domain)
        if let totals = totals.certain {
            // Each key is a value at least, or a name.
            guard totals.keys <= ValueBudget.domain.values,
                NamesSize.size(of: totals) <= ContractLimits.maximumReplySize
            else { throw DefaultsError(tooLargeDomain: domain, on: hosts) }
        }
        let isLong = try totals.isLong || isLarge(domain)
        try answer(call, isLong: isLong) { try $0.writeAllValues(of: domain, to: &$1) }
    }

    func getChanges(_ call: MethodCall) throws {
        let (domain, number) = try call.arguments {
            try Contract.GetChanges.readArguments(from: &$0, by: names)
        }
        let since = Generation(rawValue: number)
        let isLong = try database.view.hasMoreChanges(
            than: LongCalls.fewKeys, of: domain, since: since)
        try answer(call, isLong: isLong) { try $0.writeChanges(of: domain, since: since, to: &$1) }
    }

    /// What is known of a domain before it is read.
    private struct CountedTotals {
        /// The totals; nil where they may be more than what a reply would have.
        let certain: KeyTotals?
        let isLong: Bool
    }

    private func countedTotals(of domain: Domain) throws -> CountedTotals {
        let totals = try database.totals(of: domain)
        noteWork(onEntries: totals.keys)
        // A file that was tampered with may claim anything, and a layer that is made of files has a key
        // that is not told.
        let isCertain =
            domain.layer.isWritable && totals.keys <= totals.nameBytes
            && totals.nameBytes <= ContractLimits.maximumNameBytes
        return CountedTotals(
            certain: isCertain ? totals : nil, isLong: totals.keys > LongCalls.fewKeys)
    }

    /// Whether a domain of few keys has values that take long to turn into others.
    private func isLarge(_ domain: Domain) throws -> Bool {
        var size = 0
        for entry in try database.summaries(of: domain) {
            size += entry.size
            if size > LongCalls.fewBytes { return true }
        }
        return false
    }
}
