package import DefaultsXfconf
internal import Glibc

/// The directories that hold the files of Xfconf's channels, `CHANNEL.xml`.
package struct ChannelPlaces: Sendable, Equatable {
    /// The directories, the strongest first.
    package let directories: [String]
    /// Whom the locks in the files are compared with.
    package let user: UserNames

    /// More directories than this are not read.
    private static let mostDirectories = 16

    /// Names the directories.
    ///
    /// - Parameter roots: The directories in `XDG_CONFIG_DIRS`; paths that are not absolute are ignored.
    package init(below roots: [String], for user: UserNames) {
        directories = roots.filter { $0.hasPrefix("/") }.prefix(Self.mostDirectories).map {
            "\($0)/xfce4/xfconf/xfce-perchannel-xml"
        }
        self.user = user
    }

    /// The directories that the environment names, for the user of this process.
    ///
    /// Call this before the process gives up its access to the files that have the names of users.
    package static func ofEnvironment() -> ChannelPlaces {
        let list = getenv("XDG_CONFIG_DIRS").map { String(cString: $0) } ?? ""
        let roots = (list.isEmpty ? "/etc/xdg" : list).split(separator: ":").map(String.init)
        return ChannelPlaces(below: roots, for: .current)
    }
}
