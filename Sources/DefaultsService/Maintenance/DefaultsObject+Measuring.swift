import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage

/// Who writes, and how much there is.
extension DefaultsObject {
    /// How many of a domain's largest values are told at most.
    private static let mostLargest = 1000

    func findWriter(_ call: MethodCall) throws {
        let generation = try call.arguments { try Contract.FindWriter.readArguments(from: &$0) }
        let writer = writers.writer(of: generation)
        try call.reply {
            try Contract.FindWriter.writeReply(
                (writer?.executable ?? "", writer?.process ?? 0), to: &$0)
        }
    }

    func listWriters(_ call: MethodCall) throws {
        try call.reply {
            try Contract.ListWriters.writeReply(
                writers.counts.lazy.map { (executable: $0.key, changes: $0.value) }, to: &$0)
        }
    }

    /// Of the values only the sizes are read, and one domain a call keeps others waiting no longer
    /// than a list of its keys.
    func measureDomain(_ call: MethodCall) throws {
        let (domain, limit) = try call.arguments {
            try Contract.MeasureDomain.readArguments(from: &$0, by: names)
        }
        let entries = try database.summaries(of: domain)
        noteWork(onEntries: entries.count)
        let nameBytes = entries.reduce(0) { $0 + $1.key.length }
        let archiveBytes = entries.reduce(0) { $0 + $1.size }
        let largest = entries.sorted { $0.size > $1.size }
            .prefix(min(Int(clamping: limit), Self.mostLargest))
            .map { (key: $0.key.name, size: UInt64(clamping: $0.size)) }
        try call.reply {
            try Contract.MeasureDomain.writeReply(
                (
                    UInt64(clamping: entries.count), UInt64(clamping: nameBytes),
                    UInt64(clamping: archiveBytes), largest
                ), to: &$0)
        }
    }
}
