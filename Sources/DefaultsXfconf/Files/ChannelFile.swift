package import DefaultsModel
internal import Glibc

/// The contents of a channel's file, as an administrator or vendor installs it in
/// `xfce4/xfconf/xfce-perchannel-xml`.
///
/// ```xml
/// <channel name="xfce4-session" version="1.0">
///   <property name="general" type="empty">
///     <property name="SaveOnExit" type="bool" value="false" locked="guest;@students"/>
///   </property>
/// </channel>
/// ```
package struct ChannelFile: Sendable {
    /// A property of the file.
    package struct Property: Sendable {
        /// Its name.
        package let key: Key
        /// Its value; nil if it only locks the property.
        package internal(set) var value: PropertyValue?
        /// Whether the user may not change it.
        package internal(set) var isLocked: Bool
    }

    /// The properties with a value or a lock, in the order of the file.
    package let properties: [Property]
    /// Whether the user may not change anything in the channel.
    package let isLocked: Bool

    /// Reads the bytes of a file.
    ///
    /// - Parameter user: Whom the locks are compared with.
    /// - Throws: ``ChannelFileError`` with the place of the first fault.
    package init(_ bytes: [UInt8], for user: UserNames) throws(ChannelFileError) {
        self = try ChannelParser(for: user).parse(bytes)
    }

    /// Whether the text of a file has a lock, perhaps.
    ///
    /// A text of two bytes a character is not searched.
    package static func mayLock(_ bytes: [UInt8]) -> Bool {
        let text = bytes.span
        let word = Array("locked".utf8)
        guard !bytes.contains(0) else { return true }
        var matched = 0
        for index in text.indices {
            // The first letter is nowhere else in the word.
            matched = text[index] == word[matched] ? matched + 1 : text[index] == word[0] ? 1 : 0
            if matched == word.count { return true }
        }
        return false
    }

    init(properties: [Property], isLocked: Bool) {
        self.properties = properties
        self.isLocked = isLocked
    }
}

/// Why a channel's file cannot be read.
package struct ChannelFileError: Error, Hashable, Sendable {
    /// A sentence, without any value.
    package let message: String
    /// Whether a limit is the reason.
    package let isTooLarge: Bool
    /// The line, counted from 1.
    package let line: Int
    /// The column, counted from 1.
    package let column: Int
}

/// The names that a lock of a file can name a user by.
package struct UserNames: Hashable, Sendable, CustomStringConvertible {
    /// The login name.
    let name: String
    /// The names of the groups.
    let groups: Set<String>

    /// Names a user.
    package init(name: String, groups: Set<String>) {
        self.name = name
        self.groups = groups
    }

    /// The names, in an order that does not change.
    package var description: String {
        ([name] + groups.sorted().map { "@\($0)" }).joined(separator: ";")
    }

    /// The user of this process.
    ///
    /// Without a name, no list names it.
    package static var current: UserNames {
        let name = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? ""
        var numbers = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
        numbers.removeLast(numbers.count - Int(max(0, getgroups(Int32(numbers.count), &numbers))))
        let groups = (numbers + [getegid()]).compactMap { number in
            getgrgid(number).map { String(cString: $0.pointee.gr_name) }
        }
        return UserNames(name: name, groups: Set(groups))
    }

    /// Whether a list such as `ada;@students` names the user.
    func areIn(_ list: String) -> Bool {
        list.split(separator: ";").contains { entry in
            entry.hasPrefix("@") ? groups.contains(String(entry.dropFirst())) : entry == name
        }
    }
}
