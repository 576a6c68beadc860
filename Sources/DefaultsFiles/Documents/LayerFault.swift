internal import DefaultsModel
import DefaultsTerms

/// What is wrong with an entry of a file, before it is known where that stands.
struct LayerFault: Error {
    let code: LayerProblem.Code
    let reason: String

    init(_ code: LayerProblem.Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    func problem(_ path: String, at place: (line: Int, column: Int)?) -> LayerProblem {
        LayerProblem(code, path, at: place, reason)
    }
}

/// The words of what is wrong with entries.
extension LayerFault {
    static let keyIsNoText = LayerFault(
        .badKey, "The key holds half a character, an unpaired surrogate, which none can.")

    static func noKey(_ error: ModelError) -> LayerFault {
        LayerFault(.badKey, error.description)
    }

    static func unknownName(_ name: String) -> LayerFault {
        LayerFault(
            .badKey,
            "The key \(name.quotedForMessage) begins with $. Of such names a file has only $locked."
        )
    }

    static func tooManyNames(limit: Int) -> LayerFault {
        LayerFault(
            .tooLarge, "The names of the keys have more than \(limit >> 20) MiB together.")
    }

    static func valueTooLarge(_ key: Key, size: Int, limit: Int) -> LayerFault {
        LayerFault(
            .tooLarge,
            "The value of \(key.name.quotedForMessage) has \(size) bytes as an archive, and "
                + "\(limit) are allowed.")
    }

    static func tooLarge(limit: Int) -> LayerFault {
        LayerFault(
            .tooLarge,
            "Up to here the values have more than \(limit >> 20) MiB together, each counted as an "
                + "archive.")
    }

    static func badValue(_ key: Key, _ reason: String) -> LayerFault {
        LayerFault(
            .badValue, "The value of \(key.name.quotedForMessage) can be no archive: \(reason)")
    }

    static let lockedElsewhere = LayerFault(
        .badLock,
        "Only files of the managed layer lock keys; $locked has no meaning in this one.")

    static let locksAreNoList = LayerFault(.badLock, "$locked must be an array of strings.")

    static let lockIsNoText = LayerFault(
        .badLock, "The lock holds half a character, an unpaired surrogate, which no key can.")

    static func noLock(_ pattern: String) -> LayerFault {
        LayerFault(
            .badLock,
            "\(pattern.quotedForMessage) locks nothing. A lock is a key, or what keys begin with and a "
                + "* at the end, such as 'Window*'; '*' alone is every key.")
    }

    static func tooManyLocks(limit: Int) -> LayerFault {
        LayerFault(.tooLarge, "There are more than \(limit) locks.")
    }

    static func lockTwice(_ lock: Lock) -> LayerFault {
        LayerFault(.idleLock, "The lock \(lock.pattern.quotedForMessage) is there already.")
    }

    static func lockOfValue(_ lock: Lock) -> LayerFault {
        LayerFault(
            .idleLock,
            "The lock \(lock.pattern.quotedForMessage) adds nothing: the key has a value in this file, "
                + "and that locks it.")
    }
}
