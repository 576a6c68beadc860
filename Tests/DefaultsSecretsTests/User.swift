import Foundation
import Glibc
import TestSupport

/// Who answers the questions of a keyring: the stand-in for its dialog that libgcr has for tests.
final class User: Sendable {
    /// What the user does with a question.
    enum Deed {
        case types(password: String)
        case dismisses
        /// Looks at it for longer than a test takes, and then dismisses it.
        case hesitates

        fileprivate var line: String {
            switch self {
            case .types(let password): "password \(password)"
            case .dismisses: "cancel"
            case .hesitates: "hesitate"
            }
        }
    }

    /// The name on the bus that the keyring asks.
    let name: String
    private let program: ChildProcess

    init(environment: [String: String], home: TemporaryDirectory) throws {
        // The program ends with this process, which alone can write to it.
        program = try ChildProcess(
            ["/usr/bin/python3", "-c", Self.script], environment: environment, input: .pipe,
            output: .lines)
        guard let name = program.lines?.next() else { throw CocoaError(.featureUnsupported) }
        self.name = name
    }

    /// Says what is done with the next question, and returns when that is known.
    func expect(_ deed: Deed) { say(deed.line) }

    /// Whether a question that was told of has not come yet.
    var isExpecting: Bool { say("expecting") == "1" }

    @discardableResult
    private func say(_ line: String) -> String? {
        do { try program.input?.write(contentsOf: Data((line + "\n").utf8)) } catch { return nil }
        return program.lines?.next()
    }

    /// Loads libgcr, of the one version or the other.
    static let loading = """
        import ctypes, sys
        try: gcr = ctypes.CDLL("libgcr-base-3.so.1")
        except OSError: gcr = ctypes.CDLL("libgcr-4.so.4")
        """

    /// Reads deeds, and tells them to libgcr.
    ///
    /// https://gnome.pages.gitlab.gnome.org/gcr/gcr-3/class.MockPrompter.html
    private static let script = """
        \(loading)
        gcr.gcr_mock_prompter_start.restype = ctypes.c_char_p
        print(gcr.gcr_mock_prompter_start().decode(), flush=True)
        for line in sys.stdin:
            deed, _, password = line.rstrip("\\n").partition(" ")
            answer = 0
            if deed == "hesitate": gcr.gcr_mock_prompter_set_delay_msec(3600000)
            elif deed != "expecting": gcr.gcr_mock_prompter_set_delay_msec(0)
            if deed == "password":
                gcr.gcr_mock_prompter_expect_password_ok(password.encode(), None)
            elif deed == "expecting":
                answer = gcr.gcr_mock_prompter_is_expecting()
            else:
                gcr.gcr_mock_prompter_expect_password_cancel()
            print(answer, flush=True)
        """
}
