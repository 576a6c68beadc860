package import DBus

/// The declaration of a property of the contract.
///
/// The service adds the value.
package struct PropertyDeclaration: Sendable {
    /// The member name, such as `Generation`.
    package let name: MemberName
    /// The type of its value.
    package let type: Signature
    /// Whether and how `PropertiesChanged` announces it.
    package let emitsChanged: Property.ChangeNotice

    init(_ name: MemberName, _ type: Signature, emitsChanged: Property.ChangeNotice) {
        self.name = name
        self.type = type
        self.emitsChanged = emitsChanged
    }
}

extension Contract {
    /// The version of the daemon.
    package static let version = PropertyDeclaration("Version", "s", emitsChanged: .constant)
    /// The generation of the last change.
    package static let currentGeneration = PropertyDeclaration(
        "Generation", "t", emitsChanged: .none)
    /// The generation up to which every change is on disk.
    package static let durableGeneration = PropertyDeclaration(
        "DurableGeneration", "t", emitsChanged: .none)
    /// The generation from which on the database has a record of all changes, except for removals that
    /// a domain has forgotten.
    package static let recordStart = PropertyDeclaration("RecordStart", "t", emitsChanged: .none)
    /// How many acknowledged changes are not on disk yet.
    package static let pendingChanges = PropertyDeclaration(
        "PendingChanges", "u", emitsChanged: .none)
    /// Why changes cannot be stored; empty if they can.
    package static let storageError = PropertyDeclaration("StorageError", "s", emitsChanged: .value)
    /// The file that holds the database.
    package static let databasePath = PropertyDeclaration(
        "DatabasePath", "s", emitsChanged: .constant)
    /// The address of the bus on which the daemon serves; empty if it serves one program.
    package static let busAddress = PropertyDeclaration("BusAddress", "s", emitsChanged: .constant)
    /// The largest archive that `Set` takes, in bytes.
    package static let maximumValueSize = PropertyDeclaration(
        "MaximumValueSize", "t", emitsChanged: .constant)
}

extension Contract {
    /// Reads all properties at once, with the standard D-Bus call for that.
    package enum GetProperties: Call {
        package static let method = MethodDeclaration(
            "GetAll", of: "org.freedesktop.DBus.Properties", in: [Argument("interface_name", "s")],
            out: [Argument("properties", "a{sv}")])

        /// The properties.
        ///
        /// Read each of them with its declaration.
        package struct Reply: Sendable {
            private let values: [String: Value]

            fileprivate init(_ values: [(String, Value)]) {
                self.values = Dictionary(values) { first, _ in first }
            }

            /// A property of the type `s`.
            package func string(_ property: PropertyDeclaration) throws -> String {
                guard case .string(let string) = values[property.name.string] else {
                    throw missing(property)
                }
                return string
            }

            /// A property of the type `u`.
            package func uint32(_ property: PropertyDeclaration) throws -> UInt32 {
                guard case .uint32(let number) = values[property.name.string] else {
                    throw missing(property)
                }
                return number
            }

            /// A property of the type `t`.
            package func uint64(_ property: PropertyDeclaration) throws -> UInt64 {
                guard case .uint64(let number) = values[property.name.string] else {
                    throw missing(property)
                }
                return number
            }

            private func missing(_ property: PropertyDeclaration) -> DBusError {
                DBusError(
                    .invalidSignature,
                    "The service has no property \(property.name) of type '\(property.type)'.")
            }
        }

        package static func writeArguments(
            _ arguments: Void, to writer: inout MessageWriter
        ) throws {
            try writer.writeString(Contract.interface.string)
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            Reply(try reader.readVariants())
        }
    }
}

extension Contract {
    /// Reads on which bus the daemon serves, with the standard D-Bus call for a property.
    package enum GetBusAddress: Call {
        package static let method = MethodDeclaration(
            "Get", of: "org.freedesktop.DBus.Properties",
            in: [Argument("interface_name", "s"), Argument("property_name", "s")],
            out: [.value])

        package static func writeArguments(
            _ arguments: Void, to writer: inout MessageWriter
        ) throws {
            try writer.writeString(Contract.interface.string)
            try writer.writeString(Contract.busAddress.name.string)
        }

        package static func readReply(from reader: inout MessageReader) throws -> String {
            try reader.readVariant { try $0.readString() }
        }
    }
}
