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

    /// From whom the name may be taken.
    enum PreviousOwner {
        case nobody, anybody
    }

    /// Takes the name of the service, which a later daemon may take over in its turn.
    ///
    /// - Throws: ``LifeCycleError`` where another program has the name and keeps it.
    func takeName(from previous: PreviousOwner) async throws {
        let flags: NameFlags =
            switch previous {
            case .nobody: [.doNotQueue, .allowReplacement]
            case .anybody: [.doNotQueue, .allowReplacement, .replaceExisting]
            }
        let reply = try await requestName(Contract.busName, flags)
        guard reply == .primaryOwner || reply == .alreadyOwner else {
            throw LifeCycleError.nameTaken
        }
    }
}
