import DBus
import DefaultsModel

/// Who calls, as far as rights and bounds depend on it.
struct Caller {
    let access: CallerAccess
    /// The program, of which others can be told apart.
    let program: WriteRates.Program

    init(of call: MethodCall) {
        access = CallerAccess(of: call.credentials, isBusPrivate: true)
        program =
            switch access {
            case .confined(let application?): .application(application)
            case .confined(nil): .unknownApplication
            case .full, .none:
                call.credentials?.processID.map { .process($0) }
                    ?? .connection(call.sender?.string ?? call.connection.peerName)
            }
    }

    /// The application, if it is in a sandbox.
    var application: String? {
        if case .confined(let application) = access { application } else { nil }
    }

    var isConfined: Bool {
        if case .full = access { false } else { true }
    }
}
