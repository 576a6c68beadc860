import DefaultsSecrets
import DefaultsFoundation
import ExampleSupport
import Foundation
import KeyedArchive

/// The card of the user.
///
/// Its PIN does not belong in the defaults, because every program of the user can read them: the
/// keyring keeps it. The class is without NSSecureCoding on purpose, so that a card gets into no archive
/// by mistake.
final class LibraryCard: NSObject {
    let pin: String

    init(pin: String) throws {
        guard pin.count >= 4, pin.allSatisfy({ $0.isASCII && $0.isNumber }) else {
            throw Refusal("A PIN has 4 digits or more. Enter the PIN of the card.")
        }
        self.pin = pin
    }
}

extension AnySecretKey {
    static let cardPIN = SecretKey<String?>("CardPIN")
}

struct CardHolder {
    @Secret(.cardPIN, in: Secrets(domain: "org.example.Library")) private var pin

    /// Whether the keyring has a PIN; the user is not asked for it.
    var hasCard: Bool { get async throws { try await $pin.isSet } }

    /// Stores the PIN, and returns when the keyring has it.
    func keep(_ card: LibraryCard) async throws {
        pin = card.pin
        try await $pin.flush()
    }

    func forget() async throws {
        try await $pin.reset()
    }

    /// Shows that a class without NSSecureCoding is refused: nothing is written, and the error names it.
    ///
    /// Any card is refused, so this one has a PIN that nobody uses, and no keyring is asked.
    static func archive() throws -> KeyedArchive {
        try KeyedArchive(archiving: LibraryCard(pin: "0000"))
    }
}
