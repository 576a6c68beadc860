import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage

/// Who writes, and how much there is.
extension DefaultsObject {
    /// How many of a domain's largest values are told at most.
    private static let mostLargest = 1000

    func findWriter(_ call: MethodCall) throws {
        let generation = try call.arguments { try $0.readUInt64() }
        let writer = writers.writer(of: generation)
        try call.reply {
            try $0.writeString(writer?.executable ?? "")
            try $0.writeUInt32(writer?.process ?? 0)
        }
    }

    func listWriters(_ call: MethodCall) throws {
        try call.reply { reply in
            try reply.writeArray(of: "(st)") { array in
                for (executable, count) in writers.counts {
                    try array.writeStructure {
                        try $0.writeString(executable)
                        try $0.writeUInt64(count)
                    }
                }
            }
        }
    }

    /// Of the values only the sizes are read, and one domain a call keeps others waiting no longer
    /// than a list of its keys.
    func measureDomain(_ call: MethodCall) throws {
        let (domain, limit) = try call.arguments {
            (try self.domain(from: &$0), try $0.readUInt32())
        }
        let entries = try database.summaries(of: domain)
        noteWork(onEntries: entries.count)
        let names = entries.reduce(0) { $0 + $1.key.length }
        let archives = entries.reduce(0) { $0 + $1.size }
        let largest = entries.sorted { $0.size > $1.size }
            .prefix(min(Int(clamping: limit), Self.mostLargest))
        try call.reply { reply in
            for number in [entries.count, names, archives] {
                try reply.writeUInt64(UInt64(clamping: number))
            }
            try reply.writeArray(of: "(st)") { array in
                for entry in largest {
                    try array.writeStructure {
                        try $0.writeString(entry.key.name)
                        try $0.writeUInt64(UInt64(clamping: entry.size))
                    }
                }
            }
        }
    }
}
