/// The words of the history: what changed earlier, and how long that is kept.
package enum HistoryTerms {
    /// The domain whose keys decide what is kept; see ``HistoryOption``.
    package static let domain = "org.defaultsd.History"
    /// The key with a list of what has no history: domains (`org.example.App`), domains with all below
    /// them (`org.example.*`), and single keys of a domain (`org.example.App Key`).
    package static let excluded = "Excluded"
    /// The key with a list of programs that change settings by themselves, in addition to
    /// ``backgroundPrograms``.
    package static let background = "Background"

    /// Programs that change settings without being asked by a person.
    ///
    /// `defaultsctl undo` passes over their changes unless it is given a number.
    package static let backgroundPrograms: Set<String> = [
        "dconf-service", "defaultsd", "defaultsd-roam", "gnome-settings-daemon", "gnome-shell",
        "gsd-color", "gsd-housekeeping", "gsd-power", "gsd-rfkill", "gsd-sound", "gsd-xsettings",
        "gnome-session-binary", "gnome-software", "kded5", "kded6", "ksmserver", "mate-panel",
        "mate-settings-daemon", "migrate", "plasmashell", "tracker-miner-fs-3",
        "xdg-desktop-portal",
        "xdg-desktop-portal-gtk", "xfce4-notifyd", "xfce4-panel", "xfce4-power-manager",
        "xfce4-screensaver", "xfce4-session", "xfdesktop", "xfsettingsd", "xfwm4",
    ]

    /// What kind of action it was; the raw values are the words of the contract.
    package enum Kind: String, CaseIterable, Sendable {
        /// A program has changed something.
        case change
        /// An earlier action was taken back.
        case undo
        /// What an undo had taken back was done again.
        case redo
        /// A document with settings was applied, or taken back.
        case document
        /// It came from another machine of the user.
        case roam
        /// A backup was restored.
        case restore
        /// A change that the daemon before this one could not find, and that was found later.
        case late
        /// A program has answered an undo or a redo: a dialog that is open writes its own value.
        case answer

        /// Whether the newest one may be what a person means by "undo".
        package var isByHand: Bool { self == .change || self == .document }
        /// Whether it brings earlier values back.
        package var isTakingBack: Bool { self == .undo || self == .redo }
    }

    /// Whether a key keeps where something was left, such as the size of a window, and not what a person has
    /// chosen.
    ///
    /// Programs store such keys when they are closed. An action of such keys alone is not what a person means
    /// by "undo".
    ///
    /// - Parameters:
    ///   - domain: The name of the domain, without the suffix of its layer.
    ///   - key: The name of the key.
    package static func isState(_ key: String, in domain: String) -> Bool {
        let folders = key.split(separator: "/")
        let place = domain.lowercased().split { $0 == "." || $0 == "/" }
        if folders.dropLast().contains("last") || folders.last?.hasPrefix("last-") == true {
            return true
        }
        if place.contains(where: { placesOfState.contains(String($0)) || $0.hasSuffix("-state") }) {
            return true
        }
        let name = (folders.last ?? "").lowercased().filter { $0.isLetter || $0.isNumber }
        // The standard library's search for a text would bring its regular expressions.
        guard let window = name.indices.last(where: { name[$0...].hasPrefix("window") }) else {
            return stateNames.contains(name)
        }
        return stateOfWindows.contains(String(name[window...].dropFirst("window".count)))
    }

    /// Parts of the names of domains.
    private static let placesOfState: Set<String> = ["state", "file-chooser", "filechooser"]
    /// Names of keys, without hyphens and in small letters.
    private static let stateNames: Set<String> = [
        "geometry", "initialsize", "ismaximized", "isfullscreen",
        "maximized", "panedposition", "separatorposition", "sidebarwidth",
    ]
    /// How names of keys of windows end.
    private static let stateOfWindows: Set<String> = [
        "fullscreen", "geometry", "height", "ismaximized", "maximized", "position", "size", "state",
        "width", "x", "y",
    ]

    /// What is known about a value at some time; the raw values are those of the contract.
    package enum Knowledge: UInt8, Sendable {
        /// The key had no value.
        case absent = 0
        /// The key had the value that follows.
        case present = 1
        /// The history does not know it.
        case unknown = 2
        /// It is known, and has no room in the reply.
        case omitted = 3
    }

    /// What would become of a key if its part of an action was taken back; the raw values are the words of
    /// the contract.
    package enum Standing: String, Sendable {
        /// It gets its earlier value.
        case holds
        /// The action has ended with the value that it began with.
        case void
        /// It was taken back before.
        case undone
        /// Something else has changed it since.
        case changed
        /// Something else has changed it since, and it has its earlier value again.
        case same
        /// The administrator has locked it.
        case locked
        /// The history does not have its earlier value.
        case unknown
    }
}

/// What can be set about the history in numbers.
package enum HistoryOption: String, NumberOption {
    /// How many days changes are kept; 0 switches the history off.
    case days = "Days"
    /// How large the history of one domain may be, in bytes.
    case bytesPerDomain = "BytesPerDomain"
    /// How large the history of all domains may be, in bytes.
    case bytes = "Bytes"
    /// The size from which on a value is not kept, in bytes.
    case largestValue = "LargestValue"

    /// The domain whose keys they are.
    package static let domain = HistoryTerms.domain

    /// The value without a setting.
    package var standard: Int {
        switch self {
        case .days: 90
        case .bytesPerDomain: 4 << 20
        case .bytes: 64 << 20
        case .largestValue: 256 << 10
        }
    }

    /// The least and the largest value.
    package var bounds: ClosedRange<Int> {
        switch self {
        case .days: 0...36_500
        case .bytesPerDomain: 0...(1 << 30)
        case .bytes: 0...(4 << 30)
        case .largestValue: 0...(32 << 20)
        }
    }
}
