import TestSupport

/// Waiting until the daemon has taken over what was written to the files of the layers.
extension Desktop {
    /// Waits until a domain, such as `org.example.Editor@managed`, has keys.
    func awaitKeys(in domain: String, _ keys: String...) throws {
        try wait {
            let listed = tool("keys", domain).output.split(separator: "\n").map(String.init)
            return keys.allSatisfy(listed.contains)
        }
    }

    /// Waits until a key is locked, or is not.
    func awaitLock(of key: String, in domain: String, isLocked: Bool = true) throws {
        try wait { tool("locked", domain, key).status == (isLocked ? 0 : 1) }
    }
}
