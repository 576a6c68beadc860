package import DefaultsModel
internal import DefaultsTerms
internal import Glibc

/// A file that belongs to a domain's layer, found and not read.
package struct LayerFile: Hashable, Sendable {
    /// Where it is.
    package let path: String
    /// The domain with the layer, `.managed` or `.system`.
    package let domain: Domain

    /// Names a file.
    ///
    /// - Parameter domain: The domain that it is for, with its layer.
    package init(path: String, domain: Domain) {
        self.path = path
        self.domain = domain
    }

    /// Takes a file for one of a place, by its name and by that of the directory that it is in.
    ///
    /// - Throws: ``LayerProblem`` with code `.badName` if no place reads a file with this name.
    package init(path: String, in place: LayerPlace) throws(LayerProblem) {
        let names = path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        guard let name = names.last, case .document(let stem) = FileName(name) else {
            throw .nameIsIgnored(path)
        }
        // A drop-in may have any name; its directory has that of the domain.
        if let parent = names.dropLast().last, case .dropIns(let stem) = FileName(parent),
            let domain = try? Domain(name: stem, layer: place.layer)
        {
            self.init(path: path, domain: domain)
            return
        }
        do throws(ModelError) {
            self.init(path: path, domain: try Domain(name: stem, layer: place.layer))
        } catch {
            throw .noDomain(path, error)
        }
    }
}

extension LayerFile {
    /// The most bytes that a file may have (16 MiB): a file holds one value of the largest size, or
    /// many keys, and is read whole.
    package static let maximumSize = 16 << 20

    /// The bytes of the file.
    ///
    /// Links are followed. Only regular files are read, so reading never waits for a writer.
    ///
    /// - Parameter limit: How many bytes it may have, if that is less than ``maximumSize``.
    /// - Throws: ``LayerProblem`` with code `.notFound` if it does not exist, and with other codes
    ///   if it cannot be read or is too large.
    package func read(atMost limit: Int = maximumSize) throws(LayerProblem) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw .system(errno, path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(errno, path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .noRegularFile(path, is: Self.kind(status.st_mode))
        }
        return try contents(
            of: descriptor, expecting: Int(status.st_size), limit: min(limit, Self.maximumSize))
    }

    private func contents(
        of descriptor: Int32, expecting size: Int, limit: Int
    ) throws(LayerProblem) -> [UInt8] {
        guard size <= limit else { throw tooLarge(limit) }
        var bytes: [UInt8] = []
        // One byte more than expected, so the same call finds the end.
        var buffer = [UInt8](repeating: 0, count: max(size + 1, 4096))
        while true {
            // The array is passed for the time of the call.
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(errno, path) }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= limit else { throw tooLarge(limit) }
        }
    }

    private func tooLarge(_ limit: Int) -> LayerProblem {
        limit < Self.maximumSize
            ? .filesTooLarge(path) : .fileTooLarge(path, limit: Self.maximumSize)
    }

    private static func kind(_ mode: mode_t) -> String {
        switch mode & S_IFMT {
        case S_IFDIR: "a directory"
        case S_IFIFO: "a named pipe"
        case S_IFSOCK: "a socket"
        default: "a device"
        }
    }
}

extension LayerFile {
    /// What is suspicious about the domain's name; nil for nearly all.
    package var nameRemark: LayerProblem? {
        let global = GlobalDomain.name
        guard domain.name != global, domain.name.lowercased() == global.lowercased() else {
            return nil
        }
        return .likeGlobalDomain(path, domain.name)
    }
}
