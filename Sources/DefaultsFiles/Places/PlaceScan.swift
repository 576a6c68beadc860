internal import DefaultsModel
internal import Glibc

/// The walk over the directories of the places.
struct PlaceScan {
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

    /// The names in a directory; none where it is not there, and those that it had where it cannot be
    /// read.
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

    /// Whether it is a directory; what cannot be looked at is taken for one, so that it is reported.
    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFDIR
    }
}
