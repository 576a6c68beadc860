package import DefaultsModel
internal import DefaultsTerms
package import DefaultsXfconf
internal import Glibc
internal import SystemCalls

/// A file of a domain's layer.
///
/// It has been found, but not read.
package struct LayerFile: Hashable, Sendable {
    /// Where it is.
    package let path: String
    /// The domain with the layer, `.managed` or `.system`.
    package let domain: Domain
    /// What it is.
    package let form: Form

    /// What a file is.
    package enum Form: Hashable, Sendable {
        /// The keys of a domain, as JSON or a property list.
        case keys
        /// A channel of Xfconf.
        ///
        /// The managed layer has what it locks for the user, and the system layer the rest.
        case channel(UserNames)
    }

    /// Names a file.
    ///
    /// - Parameter domain: The domain that it is for, with its layer.
    package init(path: String, domain: Domain, form: Form = .keys) {
        self.path = path
        self.domain = domain
        self.form = form
    }

    /// What its meaning depends on besides its bytes; nil if that is nothing.
    ///
    /// A channel may lock something for the members of a group.
    package var circumstances: String? {
        if case .channel(let user) = form { user.description } else { nil }
    }

    /// Recognises a file of a place by its name and the name of its directory.
    ///
    /// - Throws: ``LayerProblem`` with code `.badName` if no place reads a file with this name.
    package init(path: String, in place: LayerPlace) throws(LayerProblem) {
        let names = path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        guard let name = names.last, case .document(let stem) = FileName(name) else {
            throw .nameIsIgnored(path)
        }
        // A drop-in may have any name; its directory has the name of the domain.
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
    /// The most bytes of a file: 16 MiB, enough for one value of the largest size.
    ///
    /// A file is read as a whole.
    package static let maximumSize = 16 << 20

    /// The bytes of the file.
    ///
    /// Links are followed. Only regular files are read, so reading never waits for a writer.
    ///
    /// - Parameter limit: How many bytes it may have, if that is less than ``maximumSize``.
    /// - Throws: ``LayerProblem`` with code `.notFound` if it does not exist, and with other codes
    ///   if it cannot be read or is too large.
    package func read(atMost limit: Int = maximumSize) throws(LayerProblem) -> [UInt8] {
        let limit = min(limit, Self.maximumSize)
        let (status, bytes): (FileStatus, [UInt8]?)
        do throws(SystemError) {
            let file = try File(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            status = try file.status()
            let isReadable = status.kind == .regular && status.size <= limit
            bytes = isReadable ? try file.contents(atMost: limit) : nil
        } catch {
            throw .system(error.number, path)
        }
        guard status.kind == .regular else {
            throw .noRegularFile(path, is: Self.name(of: status.kind))
        }
        guard let bytes else { throw tooLarge(limit) }
        return bytes
    }

    private func tooLarge(_ limit: Int) -> LayerProblem {
        limit < Self.maximumSize
            ? .filesTooLarge(path) : .fileTooLarge(path, limit: Self.maximumSize)
    }

    private static func name(of kind: FileStatus.Kind) -> String {
        switch kind {
        case .directory: "a directory"
        case .pipe: "a named pipe"
        case .socket: "a socket"
        case .regular, .link, .device: "a device"
        }
    }
}

extension LayerFile {
    /// The remark about the domain's name; nil for nearly all names.
    package var nameRemark: LayerProblem? {
        let global = GlobalDomain.name
        guard domain.name != global, domain.name.lowercased() == global.lowercased() else {
            return nil
        }
        return .likeGlobalDomain(path, domain.name)
    }
}
