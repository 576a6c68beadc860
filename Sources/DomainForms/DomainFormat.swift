package import PropertyList
internal import XMLPropertyList

/// The file formats of a domain.
package enum DomainFormat: String, CaseIterable, Sendable {
    /// A property list in XML.
    case xml
    /// A binary property list.
    case binary
    /// A JSON object.
    ///
    /// Its values are in the value form.
    case json

    /// The format of bytes, by their beginning; nil for JSON and the old style, which begin alike.
    package init?(of bytes: [UInt8]) {
        if bytes.starts(with: "bplist".utf8) {
            self = .binary
        } else if XMLPropertyList.isXML(bytes) {
            self = .xml
        } else {
            return nil
        }
    }
}

extension PropertyList.Limits {
    /// The limits for a whole domain: 256 MiB, 16 777 216 objects, and one level more than a value
    /// may have.
    package static let domain = PropertyList.Limits(
        byteCount: 256 << 20, objectCount: 16 << 20, depth: standard.depth + 1)
}
