package import DBus

/// Searches all layers for the value that applies to an application.
extension Contract {
    /// Reads the value that applies, as an archive, with the name of its layer.
    package enum Lookup: KeyCall {
        package static let method = MethodDeclaration(
            "Lookup", in: [.domain, .key], out: [.archive, .layer])

        package typealias Reply = (archive: [UInt8], layer: String)

        package static func writeReply(_ reply: Reply, to writer: inout MessageWriter) throws {
            try writer.writeBytes(reply.archive)
            try writer.writeString(reply.layer)
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            (try reader.readBytes(), try reader.readString())
        }
    }

    /// Reads the value that applies as a D-Bus value.
    package enum LookupValue: KeyCall {
        package static let method = MethodDeclaration(
            "LookupValue", in: [.domain, .key], out: [.value, .layer])

        package typealias Reply = (value: Value, layer: String)

        package static func writeReply(_ reply: Reply, to writer: inout MessageWriter) throws {
            try writer.writeValue(.variant(reply.value))
            try writer.writeString(reply.layer)
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            (try reader.readVariant { try $0.readValue() }, try reader.readString())
        }
    }

    /// Says whether writes to a key are refused.
    package enum IsLocked: KeyCall {
        package static let method = MethodDeclaration(
            "IsLocked", in: [.domain, .key], out: [Argument("locked", "b")])

        package typealias Reply = Bool
    }

    /// Lists every layer that has a key or locks it, the strongest first.
    package enum Explain: KeyCall {
        package static let method = MethodDeclaration(
            "Explain", in: [.domain, .key], out: [Argument("layers", "a(ssbt)")])

        /// The name of the layer, the file if there is one, whether the layer locks the key, and
        /// the size of its archive.
        package typealias Row = (layer: String, source: String, isLocked: Bool, size: UInt64)
        package typealias Reply = [Row]

        package static func writeReply(
            _ layers: some Sequence<Row>, to writer: inout MessageWriter
        ) throws {
            try writer.writeStructures(of: "(ssbt)", layers) {
                try $0.writeString($1.layer)
                try $0.writeString($1.source)
                try $0.writeBool($1.isLocked)
                try $0.writeUInt64($1.size)
            }
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            try reader.readStructures {
                (
                    try $0.readString(), try $0.readString(), try $0.readBool(),
                    try $0.readUInt64()
                )
            }
        }
    }
}
