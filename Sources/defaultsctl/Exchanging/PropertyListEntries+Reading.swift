import DefaultsClient
import DomainForms
import KeyedArchive

extension PropertyListEntries {
    /// Reads the entries one after the other.
    func read(_ take: (DefaultsEntry) throws(ToolError) -> Void) throws(ToolError) {
        for position in 0..<count {
            guard let key = key(at: position) else { throw .keyIsNoText }
            try take(DefaultsEntry(key: key, archive: archive(at: position, of: key)))
        }
    }

    private func archive(at position: Int, of key: String) throws(ToolError) -> KeyedArchive {
        do {
            return try archive(at: position)
        } catch {
            throw .cannotTake(key, because: error)
        }
    }
}
