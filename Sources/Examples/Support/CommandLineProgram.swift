public import DefaultsClient
internal import DefaultsFoundation
public import Foundation

/// An error for the user: what cannot be done, why, and what to do.
public struct Refusal: Error, CustomStringConvertible {
    /// The sentence.
    public let description: String

    /// Makes a refusal with a sentence for the user.
    public init(_ sentence: String) { description = sentence }
}

/// A command line that the program does not know.
public struct WrongUsage: Error {
    /// Makes the error.
    public init() {}
}

/// Runs a program with the words of its command line, and ends it.
///
/// The exit status is 0, or 1 with a sentence on standard error, or 64 with the usage on standard
/// error. `--help` prints the usage.
@MainActor
public func runProgram(
    usage: String, _ command: @MainActor ([String]) async throws -> Void
) async -> Never {
    let words = Array(CommandLine.arguments.dropFirst())
    if words.contains("--help") {
        print(usage)
        exit(0)
    }
    do {
        try await command(words)
        exit(0)
    } catch is WrongUsage {
        tell("The command is not known.\n\(usage)")
        exit(64)
    } catch {
        let isOfStored =
            error is DecodingError || (error as? ObjectCodingError)?.byteOffset != nil
            || (error as? DefaultsError)?.code == .undecodable
        tell(
            isOfStored
                ? "The stored value cannot be read, and was not changed. \(sentence(of: error)) "
                    + "`defaultsctl read` shows it, and `defaultsctl delete` removes it."
                : sentence(of: error))
        exit(1)
    }
}

/// Writes a sentence to standard error, after the name of the program.
public func tell(_ sentence: String) {
    let program = CommandLine.arguments.first?.split(separator: "/").last ?? "program"
    // There is no other place for the sentence if this fails.
    try? FileHandle.standardError.write(contentsOf: Data("\(program): \(sentence)\n".utf8))
}

/// The sentence of an error.
///
/// The libraries' own errors are sentences already.
public func sentence(of error: any Error) -> String {
    switch error {
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
        return "\(subject(at: context.codingPath)) is of another type than this program stores."
    case DecodingError.keyNotFound(let key, let context):
        return "\(subject(at: context.codingPath)) has no field '\(key.stringValue)'."
    case DecodingError.dataCorrupted(let context):
        let path = context.codingPath.map(\.stringValue).joined(separator: ".")
        return path.isEmpty ? context.debugDescription : "\(path): \(context.debugDescription)"
    case let error as DefaultsError
    where error.underlyingError is DecodingError || error.underlyingError is EncodingError
        || error.underlyingError is ObjectCodingError:
        return error.underlyingError.map { sentence(of: $0) } ?? error.message
    // Its own sentence is for the developer.
    case let error as DefaultsError where error.code == .undecodable:
        return "\(subject(at: [])) is of another type than this program stores."
    case EncodingError.invalidValue(_, let context):
        return context.debugDescription
    case let error as ObjectCodingError:
        // What an object gave to `failWithError(_:)` says more.
        return error.cause.map { sentence(of: $0) } ?? "\(error)"
    default:
        return "\(error)"
    }
}

/// The value, or the field in it that a path leads to.
private func subject(at path: [any CodingKey]) -> String {
    if path.isEmpty { return "It" }
    if path.count == 1, let index = path[0].intValue { return "Its element \(index + 1)" }
    return "Its field '\(path.map(\.stringValue).joined(separator: "."))'"
}

/// The contents of a file.
public func contents(of path: String) throws -> Data {
    let failure = "The file \"\(path)\" cannot be read"
    try requireName(path, failure)
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
        throw Refusal("\(failure): it is not a regular file.")
    }
    return try refusing(failure) { try Data(contentsOf: URL(filePath: path)) }
}

/// Refuses an empty path, because Foundation would use the working directory.
private func requireName(_ path: String, _ failure: String) throws {
    if path.isEmpty { throw Refusal("\(failure): its name is empty. Enter the path of a file.") }
}

/// Writes a file as a whole, or leaves it unchanged.
public func write(_ data: Data, to path: String) throws {
    let failure = "The file \"\(path)\" cannot be written"
    try requireName(path, failure)
    try refusing(failure) {
        try data.write(to: URL(filePath: path), options: .atomic)
    }
}

/// Turns errors of Foundation into sentences that give the reason of the system.
public func refusing<Result>(_ what: String, _ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch {
        let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? POSIXError
        guard let cause else {
            throw Refusal("\(what). \(error.localizedDescription)")
        }
        throw Refusal("\(what): \(String(cString: strerror(cause.code.rawValue))).")
    }
}

extension Defaults {
    /// Throws if the service cannot be reached, because reads do not return stored values then.
    ///
    /// A read returns the key's default then. An app with a window can continue with that, but a
    /// program that prints a list and ends would print an empty one.
    public func requireService() throws {
        // The first read waits for the service; the state is known after it.
        _ = keys(in: .domain)
        guard case .unreachable(let reason) = state else { return }
        let end = reason.hasSuffix(".") ? "" : "."
        throw Refusal(
            "The defaults service cannot be reached: \(reason)\(end) Nothing was read or changed; "
                + "`defaultsctl doctor` says what to do.")
    }
}
