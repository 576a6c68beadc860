package import DefaultsModel
internal import Glibc

/// The files of the layers, in the order in which they count.
package struct LayerListing: Sendable {
    /// For each domain that has any, its layer included, the files from the weakest to the
    /// strongest: the vendor's before the recommended ones; in a place the main files before the
    /// drop-ins, each by name, byte by byte.
    package let files: [Domain: [LayerFile]]
    /// Names that are of no domain, and directories that cannot be read.
    package let problems: [LayerProblem]
    /// What is suspicious and keeps nothing from being read, and names that say nothing, but
    /// perhaps are meant to.
    package let remarks: [LayerProblem]

    /// Lists the files of all places, and opens nothing but directories.
    ///
    /// - Parameter paths: The files that were there before. Those in a directory that is there and
    ///   cannot be read now are listed as if they still were.
    package init(of places: LayerPlaces, remembering paths: [String] = []) {
        var scan = PlaceScan(remembering: paths)
        // Weaker places come first.
        for place in [LayerPlace.vendor, .recommended, .managed] {
            scan.add(places[place], layer: place.layer)
        }
        (files, problems, remarks) = (scan.files, scan.problems, scan.remarks)
    }

    /// Lists the files of a directory, as one of the places.
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
    /// The files that were there before.
    private let remembered: [String]

    init(remembering paths: [String]) {
        remembered = paths
    }

    /// Adds the files of a place, over those of the places before.
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
        // Drop-ins count over every main file.
        for (path, domain) in dropIns { addDropIns(in: path, to: domain) }
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
    /// If it does not exist, there are none. If it cannot be read, they are the earlier ones.
    private mutating func names(in directory: String) -> [String] {
        do throws(SystemError) {
            let names = try Directory.names(in: directory)
            for name in names where !name.isExact && FileName(name.text).isOurs {
                problems.append(.nameIsNoText("\(directory)/\(name.text)"))
            }
            return names.filter(\.isExact).map(\.text)
        } catch {
            let problem = LayerProblem.system(error.code, directory)
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

    /// Whether it is a directory.
    ///
    /// If that is unknown, it is taken for one, so the error is reported.
    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFDIR
    }
}

/// The names in a directory.
private enum Directory {
    /// The names in byte order, without `.` and `..`; those that are not UTF-8 come as bytes that
    /// were repaired.
    ///
    /// - Throws: The number of the system's error.
    static func names(
        in path: String
    ) throws(SystemError) -> [(text: String, isExact: Bool)] {
        // The stream has one owner, this function.
        guard let stream = opendir(path) else { throw SystemError(code: errno) }
        defer { closedir(stream) }
        var names: [(text: String, isExact: Bool)] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw SystemError(code: errno) }
                break
            }
            // The entry is valid until the next call; the name in it ends with NUL.
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard bytes != [0x2E], bytes != [0x2E, 0x2E] else { continue }
            let exact = String(validating: bytes, as: UTF8.self)
            names.append((exact ?? String(decoding: bytes, as: UTF8.self), exact != nil))
        }
        return names.sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
    }
}

/// A call of the system that failed.
struct SystemError: Error {
    let code: Int32
}
