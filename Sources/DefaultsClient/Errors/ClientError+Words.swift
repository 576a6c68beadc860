import DefaultsTerms

extension ClientError {
    static let forked = ClientError(
        .forked,
        "Defaults cannot be used in a process that was forked from one that has used them: the "
            + "connection belongs to the parent. Use them only after exec, or fork before.")

    static func unreachable(_ reason: String) -> ClientError {
        ClientError(
            .unreachable,
            "The defaults service cannot be reached: \(reason) What is set meanwhile is kept in "
                + "memory, and sent when it comes back.")
    }

    /// The service is installed and does not start.
    static func notStarted(_ sentence: String) -> ClientError {
        ClientError(.unreachable, sentence)
    }

    static func noAnswer(after bound: Duration) -> ClientError {
        ClientError(
            .unreachable,
            "The defaults service has not answered within \(bound). It may still do so.")
    }

    static func notWritable(_ layer: DefaultsLayer) -> ClientError {
        ClientError(
            .notWritable,
            "The layer \(layer) cannot be written by applications; domain, host, global and "
                + "global-host can.")
    }

    static func locked(_ key: KeyName, in domain: String) -> ClientError {
        ClientError(
            .locked,
            "The administrator has locked the key '\(key)' of \(domain); `defaultsctl explain` names "
                + "the file.")
    }

    static func layerAsDomain(_ domain: String) -> ClientError {
        ClientError(
            .invalidName,
            "'\(domain)' names a layer of a domain. Use the domain, without the @ and what is behind it, "
                + "and name the layer in the call.")
    }

    static func badName(_ key: KeyName) -> ClientError {
        ClientError(
            .invalidName,
            "The name of a key has 1 to \(KeyRule.maximumLength) bytes, none of them NUL; this one has "
                + "\(key.utf8.count).")
    }

    static func tooLarge(_ key: KeyName, limit: Int) -> ClientError {
        ClientError(
            .tooLarge,
            "The value for the key '\(key)' is larger than \(limit >> 20) MiB. Keep it in a file.")
    }

    static func conflict(_ key: KeyName, in domain: String) -> ClientError {
        ClientError(
            .conflict, "The key '\(key)' of \(domain) has changed since it was read. Read it again."
        )
    }

    static func tooMuchContention(_ key: KeyName, in domain: String, attempts: Int) -> ClientError {
        ClientError(
            .conflict,
            "The key '\(key)' of \(domain) was changed by others during each of \(attempts) attempts "
                + "to update it.")
    }

    static func tooManyChanges(_ key: KeyName, in domain: String, limit: Int) -> ClientError {
        ClientError(
            .tooManyChanges,
            "The key '\(key)' of \(domain) was not changed, as changes of \(limit >> 20) MiB wait "
                + "already for the service to come back.")
    }

    static func noSuchRawValue(of type: Any.Type) -> ClientError {
        ClientError(.undecodable, "The stored value is no raw value of \(type).")
    }

    static func notOfType(_ type: Any.Type, argument key: KeyName) -> ClientError {
        ClientError(
            .undecodable, "The argument -\(key) of the command line is no value of \(type).")
    }

    static func unread(_ key: KeyName, in domain: String, _ error: any Error) -> ClientError {
        ClientError(
            (error as? ClientError)?.code ?? .undecodable,
            "The key '\(key)' of \(domain) was not changed, because its present value cannot be read: "
                + "\(reason(of: error)) Set the key to replace the value, or reset it first.")
    }

    static func kept(_ key: KeyName, under name: KeyName) -> ClientError {
        ClientError(
            .undecodable,
            "The value that could not be read is kept under the key '\(name)'. Remove that key if "
                + "nobody needs the value.")
    }

    static func notFetched(_ key: KeyName, in domain: String) -> ClientError {
        ClientError(
            .unreachable,
            "The key '\(key)' of \(domain) has a large value, which could not be fetched when it was "
                + "read. Read it again before you set it, or reset it first.")
    }

    static func newerVersion(_ version: Int, of domain: String, known: Int) -> ClientError {
        ClientError(
            .newerVersion,
            "The defaults of \(domain) have version \(version), and this program knows \(known) at "
                + "most. Use a later version of it.")
    }
}
