import DBus
import DefaultsCore
import DefaultsModel
import DefaultsStorage
import Glibc
import ServiceLife
import Wording

/// The state of the service in one line, for the log and `systemctl --user status`.
extension BusFace {
    /// Trouble, if there is any, and then what is served.
    var status: String {
        let contents = "Serving \(store.database.path): \(contents)."
        let sentence = store.knownTrouble
        return sentence.isEmpty ? contents : "\(sentence) \(contents)"
    }

    /// Tells the service manager what is new after a flush, and when trouble begins or ends.
    ///
    /// An idle daemon has nothing new to tell.
    func tellStatus() {
        // A daemon for one program has that program's environment.
        guard connection.uniqueName != nil, ServiceManager.isThere else { return }
        ServiceManager.notify(status: status)
    }

    /// What is stored, what of it is not on disk yet, and the last flush.
    private var contents: String {
        let usage = try? settings.usage.usage { try store.database.usage(of: nil) }
        let amounts = usage.map {
            "\(counted($0.keys, "key")) in \(counted($0.domains, "domain")), "
        }
        let generation = "generation \(store.database.generation), "
        let pending = store.database.pendingChanges
        let onDisk =
            pending == 0 ? "all on disk" : "\(counted(pending, "change")) not on disk yet"
        let flush =
            settings.statistics.lastFlush.map { "; last flush at \(Self.universalTime($0))" } ?? ""
        return "\(amounts ?? "")\(generation)\(onDisk)\(flush)"
    }

    /// A moment in ISO 8601: a daemon that is confined cannot read the rules of its time zone.
    private static func universalTime(_ seconds: Int) -> String {
        var (seconds, parts) = (time_t(seconds), tm())
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let length = strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        return String(decoding: text.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
