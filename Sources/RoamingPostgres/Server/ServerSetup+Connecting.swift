import DBus
import DefaultsRoaming
import Postgres

/// Connections of an administrator.
extension ServerSetup {
    static let limit = Duration.seconds(30)
    /// For statements that go through many rows.
    static let longLimit = Duration.seconds(3600)

    static func connected<Value: Sendable>(
        to address: ServerAddress, on loop: EventLoop,
        _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        let connection = try await PostgresConnection.open(address.options, on: loop)
        do {
            let value = try await body(connection)
            await connection.close()
            return value
        } catch {
            await connection.close()
            throw error
        }
    }

    static func reporting<Value: Sendable>(
        _ address: ServerAddress, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch let error as PostgresError {
            throw SetupError("\(address): \(error)")
        } catch let error as EngineError {
            throw SetupError("\(address): \(error)")
        }
    }

    /// A name as an identifier.
    static func quote(_ name: String) -> String {
        "\"" + name.replacing("\"", with: "\"\"") + "\""
    }
}
