internal import DefaultsFoundation
internal import Foundation
public import KeyedArchive

/// The archive that a program has written into a file, in binary or in XML.
public func archive(in path: String) throws -> KeyedArchive {
    try archive(of: contents(of: path))
}

/// Reads what a program has archived in a file.
///
/// - Parameters:
///   - what: What the file is to have, such as "a list of books".
///   - path: The file.
///   - decode: Makes it of the archive.
public func load<Result>(
    _ what: String, from path: String, _ decode: (KeyedArchive) throws -> Result
) throws -> Result {
    let data = try contents(of: path)
    do {
        return try decode(archive(of: data))
    } catch {
        throw Refusal(
            "The file \"\(path)\" is not \(what). \(sentence(of: error)) Nothing was changed.")
    }
}

/// The refusal of a file in which there is nothing to load.
public func nothing(of what: String, in path: String) -> Refusal {
    Refusal("The file \"\(path)\" has no \(what). Nothing was changed.")
}

private func archive(of data: Data) throws -> KeyedArchive {
    do {
        return try KeyedArchive(validating: data)
    } catch {
        // Foundation keeps the references between the objects when it turns XML into a binary list.
        guard !data.starts(with: Data("bplist".utf8)),
            let list = try? PropertyListSerialization.propertyList(from: data, format: nil),
            let binary = try? PropertyListSerialization.data(
                fromPropertyList: list, format: .binary, options: 0)
        else { throw error }
        return try KeyedArchive(validating: binary)
    }
}

/// Collections that a program in Objective-C can change after it has read them, as JSON.
public enum MutableCollection {
    /// An NSMutableArray of values in JSON.
    public static func array(_ elements: [String]) -> String {
        #"{"$class":"NSMutableArray","NS.objects":\#(list(elements))}"#
    }

    /// An NSMutableDictionary of values in JSON.
    public static func dictionary(_ entries: [String: String]) throws -> String {
        let sorted = entries.sorted { $0.key < $1.key }
        let keys = try sorted.map { try json(of: $0.key) }
        return #"{"$class":"NSMutableDictionary","NS.keys":\#(list(keys)),"#
            + #""NS.objects":\#(list(sorted.map(\.value)))}"#
    }

    private static func list(_ values: [String]) -> String { "[\(values.joined(separator: ","))]" }
}

/// The JSON of the archive that a value becomes.
public func json(of value: some Encodable) throws -> String {
    String(decoding: try KeyedArchiveEncoder().encode(value).json(), as: UTF8.self)
}
