import Glibc
import SystemCalls

// Invariants
//
// 1. A name is believed only if somebody outside the sandbox confirms it: the kernel, or the record
//    that Flatpak keeps of a running instance. Programs in other sandboxes can write any mark.
// 2. Everything that is read may have been written by an adversary, and has a limit.

/// The sandboxed application to which a process belongs.
///
/// | process | its application |
/// |---|---|
/// | one with the label `snap.NAME.…` of the security module | `snap.NAME` |
/// | one whose root directory has a mark, `/.flatpak-info`, that equals the record of a running instance | the `name` in it |
/// | one with any other mark | unknown, and in a sandbox |
/// | one that has ended, or cannot be examined | unknown, and in a sandbox |
/// | any other | unknown; ``ProcessPlace`` says whether it is in a sandbox |
///
/// A Flatpak app is connected to the bus by its xdg-dbus-proxy, which runs in a sandbox of its own with
/// the same mark. Each of the three files is a copy: that of the record, that of the proxy and that of
/// the app have the same bytes and are not the same file. An app with the permission
/// `--socket=session-bus` is connected itself.
enum SandboxedApplication {
    /// The ID of the application of a process.
    ///
    /// - Parameters:
    ///   - label: The security label of the process; nil without one.
    ///   - flatpak: The app that its mark proves; nil if there is none.
    static func id(label: String?, flatpak: String?) -> String? {
        guard let label, label.hasPrefix("snap.") else { return flatpak }
        return snap(label: label)
    }

    /// The snap of a label `snap.NAME.COMMAND` or `snap.NAME.hook.HOOK`.
    ///
    /// A mode can follow, as in `snap.example.app (enforce)`. One of several instances has a key,
    /// as in `snap.example_key.app`.
    private static func snap(label: String) -> String? {
        let parts = label.utf8.split(
            separator: UInt8(ascii: "."), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, isSnap(name: parts[1]), let first = parts[2].first,
            first.isLetterOrDigit
        else { return nil }
        return "snap.\(Substring(parts[1]))"
    }

    /// The rule of snapd: small letters, digits and single hyphens between them, at least one letter.
    private static func isSnap(name: Substring.UTF8View) -> Bool {
        let parts = name.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
        guard let snap = parts.first, parts.count <= 2, snap.count <= 40 else { return false }
        let words = snap.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let key = parts.dropFirst()
        return snap.contains(where: \.isSmallLetter) && key.allSatisfy { $0.count <= 10 }
            && (words + key).allSatisfy { word in
                !word.isEmpty && word.allSatisfy { $0.isSmallLetter || $0.isDigit }
            }
    }
}

/// The instances of Flatpak apps that run for this user.
///
/// Flatpak keeps a record of each, which no app can write: `.flatpak/ID` in the runtime directory, with
/// the mark in `info`, and in `pid` the process outside the sandbox that waits for the app. Beside the
/// records, every app has a folder that it can write; its name is the ID of the app.
struct FlatpakInstances: Sendable {
    /// `$XDG_RUNTIME_DIR`; nil without one.
    let runtimeDirectory: String?

    /// Those of the user of this process.
    static var current: FlatpakInstances {
        FlatpakInstances(runtimeDirectory: getenv("XDG_RUNTIME_DIR").map { String(cString: $0) })
    }

    /// The ID of the app to which a root directory with this mark belongs; nil if that is not proven.
    func application(markedBy mark: [UInt8]) -> String? {
        guard let description = FlatpakMark(mark),
            let record = record(of: description.instance),
            Self.contents(of: "info", in: record, atMost: RootDirectory.largestMark) == mark,
            let process = Self.contents(of: "pid", in: record, atMost: 32),
            Self.isRunning(process)
        else { return nil }
        return description.application
    }

    /// The directory of an instance; nil if it is not there, or is not this user's.
    ///
    /// - Parameter instance: Digits.
    private func record(of instance: String) -> File? {
        guard let runtimeDirectory, runtimeDirectory.hasPrefix("/") else { return nil }
        let flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK
        guard let directory = try? File(runtimeDirectory, flags),
            let records = try? File(".flatpak", flags | O_NOFOLLOW, in: directory),
            let record = try? File(instance, flags | O_NOFOLLOW, in: records),
            let status = try? record.status(), status.owner == geteuid()
        else { return nil }
        return record
    }

    /// Whether the process with this number is alive.
    private static func isRunning(_ text: [UInt8]) -> Bool {
        let digits = text.last == UInt8(ascii: "\n") ? text.dropLast() : text[...]
        guard digits.allSatisfy(\.isDigit), !digits.isEmpty,
            let number = Int32(String(decoding: digits, as: UTF8.self)), number > 0,
            let reference = ProcessReference.make(number)
        else { return false }
        return ProcessReference.isAlive(reference)
    }
}

extension FlatpakInstances {
    /// The bytes of a file in a record.
    private static func contents(
        of name: String, in record: borrowing File, atMost size: Int
    ) -> [UInt8]? {
        guard let file = try? File(name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, in: record),
            let status = try? file.status(), status.owner == geteuid()
        else { return nil }
        return contents(of: file, atMost: size)
    }

    /// The bytes of a file; nil if it is not a regular one, or is larger.
    static func contents(of file: borrowing File, atMost size: Int) -> [UInt8]? {
        guard let status = try? file.status(), status.kind == .regular, status.size <= size else {
            return nil
        }
        // It may grow meanwhile.
        return (try? file.contents(atMost: size)) ?? nil
    }
}

/// What the mark of a Flatpak says.
///
/// It is a [key file](https://specifications.freedesktop.org/desktop-entry-spec/latest/basic-format.html):
///
/// ```
/// [Application]
/// name=org.example.App
///
/// [Instance]
/// instance-id=123456
/// ```
///
/// A program of a runtime has the group `Runtime` instead of `Application`.
struct FlatpakMark: Hashable {
    /// The ID of the app.
    let application: String
    /// The number of the instance, in digits.
    let instance: String

    /// Reads a mark.
    ///
    /// GLib, by which Flatpak writes it, is more lenient. Where programs could differ in what they
    /// read, nothing is believed.
    init?(_ bytes: [UInt8]) {
        guard let groups = KeyFileGroups(bytes),
            groups.contains("Application") != groups.contains("Runtime"),
            let name = groups["Application", "name"] ?? groups["Runtime", "name"],
            let instance = groups["Instance", "instance-id"],
            (try? NameGrammar.bus.check(name)) != nil,
            (1...20).contains(instance.utf8.count), instance.utf8.allSatisfy(\.isDigit)
        else { return nil }
        application = name
        self.instance = instance
    }
}

/// A key file in which every group and every key stands once.
private struct KeyFileGroups {
    private var values: [String: [String: String]] = [:]

    init?(_ bytes: [UInt8]) {
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            return nil
        }
        var group: String?
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            guard let first = line.first, first != UInt8(ascii: "#") else { continue }
            if first == UInt8(ascii: "[") {
                guard let name = Self.groupName(line), values[name] == nil else { return nil }
                values[name] = [:]
                group = name
            } else {
                guard let group, let (key, value) = Self.entry(line),
                    values[group]?.updateValue(value, forKey: key) == nil
                else { return nil }
            }
        }
    }

    func contains(_ group: String) -> Bool { values[group] != nil }

    subscript(group: String, key: String) -> String? { values[group]?[key] }

    /// The name in a line `[name]`.
    private static func groupName(_ line: Substring.UTF8View) -> String? {
        let name = line.dropFirst().dropLast()
        guard line.last == UInt8(ascii: "]"), !name.isEmpty,
            !name.contains(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") })
        else { return nil }
        return String(Substring(name))
    }

    /// The parts of a line `key=value`, which has no space around the sign.
    private static func entry(_ line: Substring.UTF8View) -> (key: String, value: String)? {
        guard let sign = line.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let (key, value) = (line[..<sign], line[line.index(after: sign)...])
        guard let first = key.first, let last = key.last, !isSpace(first), !isSpace(last),
            !(value.first.map(isSpace) ?? false)
        else { return nil }
        return (String(Substring(key)), String(Substring(value)))
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte)
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    fileprivate var isSmallLetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self)
    }

    fileprivate var isLetterOrDigit: Bool { isDigit || (self | 0x20).isSmallLetter }
}
