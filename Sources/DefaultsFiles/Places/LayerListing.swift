package import DefaultsModel
internal import DefaultsXfconf
internal import Glibc
internal import SystemCalls

/// The files of the layers, in the order of their priority.
package struct LayerListing: Sendable {
    /// For each domain with files, the files from the weakest to the strongest.
    ///
    /// The vendor's come before the recommended ones. In one place, the main files come before the
    /// drop-ins, each sorted by the bytes of the name.
    package let files: [Domain: [LayerFile]]
    /// Names that are not those of domains, and directories that cannot be read.
    package let problems: [LayerProblem]
    /// Remarks, and ignored names that may be meant for a domain.
    package let remarks: [LayerProblem]

    /// Lists the files of all places.
    ///
    /// Only directories are opened.
    ///
    /// - Parameter paths: The files of the last listing. If a directory exists but cannot be read
    ///   now, its earlier files are still listed.
    package init(of places: LayerPlaces, remembering paths: [String] = []) {
        var scan = PlaceScan(remembering: paths)
        // Weaker places come first.
        if let channels = places.channels {
            for directory in channels.directories.reversed() {
                scan.addChannels(directory, of: channels.user)
            }
        }
        for place in [LayerPlace.vendor, .recommended, .managed] {
            scan.add(places[place], layer: place.layer)
        }
        (files, problems, remarks) = (scan.files, scan.problems, scan.remarks)
    }

    /// Lists the files of a directory, as if it were one of the places.
    package init(of directory: String, as place: LayerPlace) {
        var scan = PlaceScan(remembering: [])
        scan.add(directory, layer: place.layer)
        (files, problems, remarks) = (scan.files, scan.problems, scan.remarks)
    }
}

/// The walk over the directories of the places.
private struct PlaceScan {
    private(set) var files: [Domain: [LayerFile]] = [:]
    private(set) var problems: [LayerProblem] = []
    private(set) var remarks: [LayerProblem] = []
    /// The files of the last listing.
    private let remembered: [String]

    init(remembering paths: [String]) {
        remembered = paths
    }

    /// Adds the files of a place, after those of weaker places.
    mutating func add(_ directory: String, layer: Layer) {
        var dropIns: [(path: String, domain: Domain)] = []
        var mainFiles: [Domain: String] = [:]
        for name in names(in: directory) {
            let path = "\(directory)/\(name)"
            switch FileName(name) {
            case .document(let stem):
                guard let domain = domain(stem, layer, path) else { continue }
                add(path, to: domain)
                if let other = mainFiles.updateValue(name, forKey: domain) {
                    remarks.append(.twoMainFiles(path, over: other))
                }
            case .dropIns(let stem):
                guard Self.isDirectory(path) else {
                    problems.append(.noDirectory(path))
                    continue
                }
                if let domain = domain(stem, layer, path) { dropIns.append((path, domain)) }
            case .leftover: break
            case .other: remarks.append(.nameIsIgnored(path))
            }
        }
        // Drop-ins are stronger than every main file.
        for (path, domain) in dropIns { addDropIns(in: path, to: domain) }
    }

    /// Adds the channels of a directory, after those of weaker places.
    ///
    /// A file is in two layers: what it locks is in the managed one.
    mutating func addChannels(_ directory: String, of user: UserNames) {
        let suffix = ".xml"
        for name in names(in: directory) where name.hasSuffix(suffix) && !name.hasPrefix(".") {
            guard let channel = try? ChannelName(String(name.dropLast(suffix.count))) else {
                continue
            }
            for layer in [Layer.system, .managed] {
                guard let domain = try? Domain(name: channel.domain, layer: layer) else { continue }
                files[domain, default: []].append(
                    LayerFile(
                        path: "\(directory)/\(name)", domain: domain, form: .channel(user)))
            }
        }
    }

    private mutating func addDropIns(in directory: String, to domain: Domain) {
        let count = files[domain]?.count
        for name in names(in: directory) {
            let path = "\(directory)/\(name)"
            switch FileName(name) {
            case .document: add(path, to: domain)
            case .leftover: break
            case .dropIns, .other: remarks.append(.nameIsIgnored(path))
            }
        }
        if files[domain]?.count == count { remarks.append(.noDropIns(directory)) }
    }

    private mutating func add(_ path: String, to domain: Domain) {
        files[domain, default: []].append(LayerFile(path: path, domain: domain))
    }

    private mutating func domain(_ name: String, _ layer: Layer, _ path: String) -> Domain? {
        do throws(ModelError) {
            return try Domain(name: name, layer: layer)
        } catch {
            problems.append(.noDomain(path, error))
            return nil
        }
    }

    /// The names in a directory.
    ///
    /// None if it does not exist; the earlier ones if it cannot be read.
    private mutating func names(in directory: String) -> [String] {
        do throws(SystemError) {
            let entries = try Directory.entries(in: directory).sorted {
                $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
            }
            for entry in entries where !entry.isExact && FileName(entry.name).isOurs {
                problems.append(.nameIsNoText("\(directory)/\(entry.name)"))
            }
            return entries.filter(\.isExact).map(\.name)
        } catch {
            let problem = LayerProblem.system(error.number, directory)
            guard problem.code != .notFound else { return [] }
            problems.append(problem)
            return rememberedNames(in: directory)
        }
    }

    private func rememberedNames(in directory: String) -> [String] {
        let prefix = "\(directory)/".utf8
        let names = remembered.compactMap { path -> String? in
            guard path.utf8.starts(with: prefix) else { return nil }
            let rest = path.utf8.dropFirst(prefix.count)
            return String(rest.prefix { $0 != UInt8(ascii: "/") })
        }
        return Set(names.map { Array($0.utf8) }).sorted { $0.lexicographicallyPrecedes($1) }
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether a path is a directory.
    ///
    /// If that is unknown, the result is true, so that the error is reported.
    private static func isDirectory(_ path: String) -> Bool {
        FileStatus.ifAny(path).map { $0.kind == .directory } ?? true
    }
}
