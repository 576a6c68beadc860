import Glibc
import Synchronization

/// Whether this process is the child of one that had a connection.
///
/// Only the thread that forked goes on in a child. The connection's thread is gone, and whatever was
/// locked stays locked: nothing here may be touched any more.
enum Fork {
    private static let hasHappened = Atomic<Bool>(false)
    private static let hasWarned = Atomic<Bool>(false)

    static var isChild: Bool { hasHappened.load(ordering: .relaxed) }

    /// Sees to it that a child knows of itself.
    ///
    /// To be called before there is a connection.
    static func watch() { _ = registration }

    private static let registration: Void = {
        pthread_atfork(nil, nil) { Fork.hasHappened.store(true, ordering: .relaxed) }
    }()

    /// Throws in a child.
    static func check() throws {
        if isChild { throw ClientError.forked }
    }

    /// Tells on standard error, once, that a child reads defaults only, and that its changes are lost.
    static func warn() {
        guard !hasWarned.exchange(true, ordering: .relaxed) else { return }
        StandardError.say(ClientError.forked.message)
    }
}

/// What is done when the program ends by returning from `main` or by `exit`.
enum AtExit {
    private static let actions = Mutex<[@Sendable () -> Void]>([])
    private static let registration: Void = {
        atexit { for action in AtExit.actions.withLock({ $0 }) { action() } }
    }()

    /// Has a closure called at the end, which must return within some seconds.
    static func call(_ action: @escaping @Sendable () -> Void) {
        _ = registration
        actions.withLock { $0.append(action) }
    }
}

/// The domain of a program that does not name one.
enum ProgramIdentity {
    /// The ID of the Flatpak, or the name of the program's file, with what no domain may have replaced.
    static var domain: String {
        if let id = getenv("FLATPAK_ID").map({ String(cString: $0) }), !id.isEmpty { return id }
        let program = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? ""
        let allowed = program.utf8.map { byte -> UInt8 in
            let isAllowed =
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            return isAllowed ? byte : UInt8(ascii: "-")
        }
        return allowed.isEmpty ? "program" : String(decoding: allowed.prefix(255), as: UTF8.self)
    }
}
