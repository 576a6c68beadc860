internal import DefaultsModel
import DefaultsTerms

/// A fault of an entry of a file, before its place is known.
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

/// The messages of these faults.
extension LayerFault {
    static let keyIsNoText = LayerFault(
        .badKey, "The key has an unpaired surrogate, which no key can have.")

    static func noKey(_ error: ModelError) -> LayerFault {
        LayerFault(.badKey, error.description)
    }

    static func unknownName(_ name: String) -> LayerFault {
        LayerFault(
            .badKey,
            "The key \(name.quotedForMessage) begins with $. The only such names are $locked, "
                + "$schema and $comment."
        )
    }

    static func tooManyNames(limit: Int) -> LayerFault {
        LayerFault(
            .tooLarge, "The names of all keys together are larger than \(limit >> 20) MiB.")
    }

    static func valueTooLarge(_ key: Key, size: Int, limit: Int) -> LayerFault {
        LayerFault(
            .tooLarge,
            "The value of \(key.name.quotedForMessage) has \(size) bytes as an archive; "
                + "the limit is \(limit).")
    }

    static func tooLarge(limit: Int) -> LayerFault {
        LayerFault(
            .tooLarge,
            "The values up to here are larger than \(limit >> 20) MiB together, each counted as an "
                + "archive.")
    }

    static func badValue(_ key: Key, _ reason: String) -> LayerFault {
        LayerFault(
            .badValue, "The value of \(key.name.quotedForMessage) cannot be an archive: \(reason)")
    }

    static let lockedElsewhere = LayerFault(
        .badLock,
        "Only files of the managed layer can lock keys; $locked is not allowed in this file.")

    static let locksAreNoList = LayerFault(.badLock, "$locked must be an array of strings.")

    static let lockIsNoText = LayerFault(
        .badLock, "The lock has an unpaired surrogate, which no key can have.")

    static func noLock(_ pattern: String) -> LayerFault {
        LayerFault(
            .badLock,
            "\(pattern.quotedForMessage) is not a lock. A lock is a key, or the beginning of keys and a "
                + "*, such as 'Window*'; '*' alone locks every key.")
    }

    static func tooManyLocks(limit: Int) -> LayerFault {
        LayerFault(.tooLarge, "There are more than \(limit) locks.")
    }

    static func lockTwice(_ lock: Lock) -> LayerFault {
        LayerFault(.idleLock, "The lock \(lock.pattern.quotedForMessage) is given twice.")
    }

    static func lockOfValue(_ lock: Lock) -> LayerFault {
        LayerFault(
            .idleLock,
            "The lock \(lock.pattern.quotedForMessage) changes nothing: the key has a value in this file, "
                + "which already locks it.")
    }
}
