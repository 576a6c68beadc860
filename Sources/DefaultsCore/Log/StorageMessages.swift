package import DefaultsStorage
package import Logging

extension Logger {
    /// Logs a message of the storage.
    package func log(_ notice: Notice) {
        switch notice.severity {
        case .progress, .information: info("\(notice)")
        case .warning: warning("\(notice)")
        case .repair: log(.repaired, level: .warning, "\(notice)")
        }
    }
}
