import DBus
import DefaultsProtocol

extension Connection {
    /// Connects to those who are to be served.
    ///
    /// - Throws: ``LifeCycleError`` where there is nobody.
    init(to callers: DaemonOptions.Callers, on loop: EventLoop) throws {
        do {
            switch callers {
            case .bus, .busReplacingOther: try self.init(to: .session, on: loop)
            case .peer(let descriptor):
                // The connection keeps a duplicate; this one is closed, so that the peer's end is seen.
                try self.init(serving: FileDescriptor(owning: descriptor), on: loop)
            }
        } catch let error as DBusError {
            throw LifeCycleError.nobodyToServe(callers, error)
        }
    }

    /// Takes the name of the service, which nobody can take away again: it is given up only by this
    /// process, see ``HandOver``.
    ///
    /// - Throws: ``LifeCycleError`` where another program has the name.
    func takeName() async throws {
        guard try await takesName([.doNotQueue]) else { throw LifeCycleError.nameTaken }
    }

    /// Asks for the name.
    ///
    /// - Returns: Whether it is ours.
    func takesName(_ flags: NameFlags) async throws -> Bool {
        let reply = try await requestName(Contract.busName, flags)
        return reply == .primaryOwner || reply == .alreadyOwner
    }
}
