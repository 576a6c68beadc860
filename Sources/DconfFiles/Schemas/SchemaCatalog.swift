internal import DefaultsProtocol
internal import DefaultsTerms
internal import Glibc
internal import SystemCalls

/// The GSettings schemas that are installed.
///
/// Each directory of schemas has a compiled file, in which a schema is found by its name. Only the
/// schemas and keys that are asked for are read.
package struct SchemaCatalog: Sendable {
    /// A directory of schemas.
    struct Source: Sendable {
        let directory: String
        let table: GVDBTable
    }

    /// A compiled file that cannot be read.
    package struct Problem: Sendable {
        /// The file.
        package let path: String
        /// A sentence that says what is wrong.
        package let reason: String
    }

    /// The directories that have a compiled file; a schema of an earlier one counts.
    private var sources: [Source] = []
    /// The compiled files that cannot be read.
    package private(set) var problems: [Problem] = []
    /// The names of the desktop, the most specific first; schemas may have a default for each.
    private let desktops: [String]

    /// Opens the compiled files of directories.
    ///
    /// A directory without one is ignored.
    ///
    /// - Parameter desktops: The names in `$XDG_CURRENT_DESKTOP`.
    package init(directories: [String], desktops: [String] = []) {
        self.desktops = desktops
        for directory in directories { open(directory) }
    }

    /// Opens the compiled files of the directories that GLib searches.
    package init(environment: [String: String]) {
        let desktops = environment["XDG_CURRENT_DESKTOP"]?.split(separator: ":") ?? []
        self.init(
            directories: Self.directories(environment), desktops: desktops.map(String.init))
    }

    /// The variables that say where schemas are.
    private static let variables = [
        "HOME", "XDG_DATA_HOME", "XDG_DATA_DIRS", "GSETTINGS_SCHEMA_DIR", "XDG_CURRENT_DESKTOP",
    ]

    private static var ownEnvironment: [String: String] {
        var environment: [String: String] = [:]
        for name in variables {
            environment[name] = getenv(name).flatMap { String(validatingCString: $0) }
        }
        return environment
    }

    /// Opens the compiled files that programs with the environment of this process find.
    package static func ofThisProcess() -> SchemaCatalog {
        SchemaCatalog(environment: ownEnvironment)
    }

    /// The directories that GLib searches in a program with the environment of this process.
    package static var ownDirectories: [String] { directories(ownEnvironment) }

    /// The directories that GLib searches, in its order.
    package static func directories(_ environment: [String: String]) -> [String] {
        func variable(_ name: String) -> String? {
            environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        func list(_ text: String) -> [String] { text.split(separator: ":").map(String.init) }
        let home = variable("XDG_DATA_HOME") ?? variable("HOME").map { $0 + "/.local/share" }
        let data = list(variable("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share")
        return list(environment["GSETTINGS_SCHEMA_DIR"] ?? "")
            + ((home.map { [$0] } ?? []) + data).map { $0 + "/glib-2.0/schemas" }
    }

    private mutating func open(_ directory: String) {
        let path = directory + "/gschemas.compiled"
        do {
            let file = try File.regular(path, O_RDONLY)
            guard let bytes = try file.contents(atMost: GVDBTable.maximumSize) else {
                throw GVDBError.tooLarge
            }
            sources.append(Source(directory: directory, table: try GVDBTable(bytes)))
        } catch let error as SystemError {
            guard error.number != ENOENT, error.number != ENOTDIR else { return }
            problems.append(Problem(path: path, reason: "\(error.reason)."))
        } catch {
            problems.append(Problem(path: path, reason: "\(error)"))
        }
    }
}

// MARK: Schemas

extension SchemaCatalog {
    /// The names of all schemas, each once.
    package var schemaNames: [String] {
        var known: Set<String> = []
        return sources.flatMap { $0.table.names }.filter { known.insert($0).inserted }
    }

    /// The schema of a name; nil if it is not installed.
    package func schema(named name: String) -> SettingsSchema? {
        for source in sources {
            if let schema = SettingsSchema(name, in: source, desktops) { return schema }
        }
        return nil
    }

    /// The schema's key that a path is; nil if no schema has that path.
    ///
    /// Programs choose the path of a relocatable schema. It is only known for children of other schemas.
    package func key(at path: SettingsPath) -> SettingsSchema.Key? {
        guard let slash = path.path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        let name = String(path.path[slash...].dropFirst())
        let folder = String(path.path[...slash])
        // Most schemas have the name of their path.
        if let key = namesake(of: folder)?.key(named: name) { return key }
        return schemas(at: folder).lazy.compactMap { $0.key(named: name) }.first
    }

    /// The schemas whose keys are directly in a folder, such as `/org/gnome/desktop/interface/`.
    package func schemas(at folder: String) -> [SettingsSchema] {
        schemas(at: folder, depth: 0)
    }

    /// The most schemas that are children of each other.
    private static let maximumChildren = 16

    private func schemas(at folder: String, depth: Int) -> [SettingsSchema] {
        let first = namesake(of: folder)
        var found = first.map { [$0] } ?? []
        if mayHaveSchema(at: folder) {
            found += schemaNames.lazy.filter { $0 != first?.name }.compactMap { schema(named: $0) }
                .filter { $0.path == folder }
        }
        guard found.isEmpty, depth < Self.maximumChildren,
            let end = folder.utf8.dropLast().lastIndex(of: UInt8(ascii: "/")),
            end != folder.startIndex
        else { return found }
        let child = String(folder[folder.utf8.index(after: end)...])
        return schemas(at: String(folder[...end]), depth: depth + 1)
            .compactMap { $0.child(named: child).flatMap { schema(named: $0) } }
            .filter { $0.path == nil || $0.path == folder }
    }

    /// The schema whose name is that of its path.
    private func namesake(of folder: String) -> SettingsSchema? {
        let name = folder.split(separator: "/").joined(separator: ".")
        return schema(named: name).flatMap { $0.path == folder ? $0 : nil }
    }

    /// Whether a compiled file has the text of a path, without reading its schemas.
    private func mayHaveSchema(at folder: String) -> Bool {
        sources.contains { $0.table.contains(folder) }
    }
}

extension GVDBTable {
    /// The names of the items, as far as they can be read.
    ///
    /// Names can overlap in a file that is wrong, so their sizes are added up.
    var names: [String] {
        var remaining = ContractLimits.maximumNameBytes
        return indices.compactMap { item in
            guard remaining > 0 else { return nil }
            let name = try? name(of: item)
            remaining -= name?.utf8.count ?? Self.maximumNameLength
            return name == "" ? nil : name
        }
    }

    /// The text that a name has; nil if there is none.
    func text(named name: String) -> String? {
        guard let item = item(named: name), let value = try? value(of: item),
            case .string(let text) = value.content
        else { return nil }
        return text
    }
}
