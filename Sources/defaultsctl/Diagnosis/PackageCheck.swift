import SystemCalls

/// Checks what dpkg says of the packages of defaultsd.
struct PackageCheck {
    private let packages: [InstalledPackage]?

    private static let subject = "packages"
    private static let daemon = "defaultsd"
    private static let module = "defaultsd-gsettings"
    private static let roaming = "defaultsd-roam"

    /// Reads dpkg's database.
    init() {
        let directory = Defaultsctl.console.variable("DPKG_ADMINDIR") ?? "/var/lib/dpkg"
        packages = InstalledPackage.read(
            "\(directory)/status", named: [Self.daemon, Self.module, Self.roaming])
    }

    /// One finding; none if this system has no dpkg.
    func findings() -> [Finding] {
        guard let packages else { return [] }
        guard !packages.isEmpty else {
            return [.ok(Self.subject, "The programs were not installed by dpkg.")]
        }
        return [incomplete(packages) ?? differing(packages) ?? complete(packages)]
    }

    private func incomplete(_ packages: [InstalledPackage]) -> Finding? {
        guard let package = packages.first(where: { !$0.isComplete }) else { return nil }
        return .problem(
            Self.subject,
            "The installation of \(package.name) was interrupted (\(package.state)).",
            "As root: dpkg --configure --pending. If that fails: apt-get install --reinstall "
                + package.name)
    }

    private func differing(_ packages: [InstalledPackage]) -> Finding? {
        guard Set(packages.map(\.version)).count > 1 else { return nil }
        return .warning(
            Self.subject, "\(Self.words(for: packages)) have different versions.",
            "As root: apt-get install \(packages.map(\.name).joined(separator: " "))")
    }

    private func complete(_ packages: [InstalledPackage]) -> Finding {
        let hasModule = packages.contains { $0.name == Self.module }
        let hint =
            hasModule
            ? "" : "; programs of GTK need \(Self.module), too, before they can be adopted"
        return .ok(Self.subject, Self.words(for: packages) + hint)
    }

    private static func words(for packages: [InstalledPackage]) -> String {
        packages.map { "\($0.name) \($0.version)" }.joined(separator: ", ")
    }
}

/// A package that dpkg has unpacked.
private struct InstalledPackage {
    let name: String
    let version: String
    /// The last word of dpkg's line `Status`.
    let state: String

    /// Whether it can be used.
    var isComplete: Bool { state == "installed" || state.hasPrefix("triggers-") }

    /// Whether its files are there, possibly not all of them.
    private var isUnpacked: Bool { !["not-installed", "config-files"].contains(state) }

    /// The largest database that is read, in bytes.
    private static let largest = 256 << 20

    /// Reads those packages of dpkg's database that have one of the given names; nil if there is no
    /// database.
    static func read(_ path: String, named names: [String]) -> [InstalledPackage]? {
        guard let bytes = try? InputFile.contents(of: path, limit: largest) else { return nil }
        var packages: [InstalledPackage] = []
        var name: String?
        var state = ""
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            if let text = value("Package", in: line) {
                name = names.contains(text) ? text : nil
            } else if name != nil, let text = value("Status", in: line) {
                state = text.split(separator: " ").last.map(String.init) ?? ""
            } else if let found = name, let version = value("Version", in: line) {
                packages.append(InstalledPackage(name: found, version: version, state: state))
                name = nil
            }
        }
        return packages.filter(\.isUnpacked)
    }

    /// The value of a field if the line has it.
    private static func value(_ field: String, in line: ArraySlice<UInt8>) -> String? {
        let beginning = "\(field): ".utf8
        guard line.starts(with: beginning) else { return nil }
        return String(decoding: line.dropFirst(beginning.count), as: UTF8.self)
    }
}
