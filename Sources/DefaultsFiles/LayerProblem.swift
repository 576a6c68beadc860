package import DefaultsModel
package import DefaultsTerms
internal import Glibc
internal import SystemCalls

/// A problem with a file of a layer, and its place.
///
/// The description is a sentence for the log and for `defaultsctl lint`, and never contains a
/// stored value.
package struct LayerProblem: Error, Hashable, Sendable {
    /// The kind of the problem, for programs.
    package struct Code: Hashable, Sendable {
        /// The name, for messages and tests.
        package let name: String

        /// The file does not exist, or no longer exists.
        package static let notFound = Code(name: "notFound")
        /// The file or the directory cannot be read.
        package static let unreadable = Code(name: "unreadable")
        /// The system currently has no descriptor or memory for reading the file.
        package static let noMeans = Code(name: "noMeans")
        /// The places cannot be watched.
        package static let notWatched = Code(name: "notWatched")
        /// Something is larger than the limit.
        package static let tooLarge = Code(name: "tooLarge")
        /// The name of a file or directory is not that of a domain.
        package static let badName = Code(name: "badName")
        /// The bytes are neither JSON nor a property list.
        package static let syntax = Code(name: "syntax")
        /// A name is not a valid key.
        package static let badKey = Code(name: "badKey")
        /// A lock is wrong, or is not allowed in this file.
        package static let badLock = Code(name: "badLock")
        /// A value cannot be archived.
        package static let badValue = Code(name: "badValue")

        // Codes of remarks.

        /// A dictionary of an XML property list has a key twice.
        ///
        /// The last one counts.
        package static let repeatedKey = Code(name: "repeatedKey")
        /// A lock has no effect.
        package static let idleLock = Code(name: "idleLock")
        /// A domain has two main files in one place, one in each format.
        package static let twoMainFiles = Code(name: "twoMainFiles")
        /// A directory of drop-ins has no files that are read.
        package static let noDropIns = Code(name: "noDropIns")
        /// The name is that of the global domain in different letter case.
        package static let likeGlobalDomain = Code(name: "likeGlobalDomain")
        /// The service does not have such an option, or not with such a value.
        package static let ignoredOption = Code(name: "ignoredOption")
        /// Not every user can read it.
        package static let notForAllUsers = Code(name: "notForAllUsers")
        /// Not only the owner can write it.
        package static let writable = Code(name: "writable")
    }

    /// The kind of the problem.
    package let code: Code
    /// The file or the directory.
    package let path: String
    /// The line, counted from 1, if it is known.
    package let line: Int?
    /// The column in that line, counted from 1 in Unicode code points, if it is known.
    package let column: Int?
    /// A sentence that says what is wrong.
    package let reason: String

    init(_ code: Code, _ path: String, at place: (line: Int, column: Int)? = nil, _ reason: String)
    {
        self.code = code
        self.path = path
        line = place?.line
        column = place?.column
        self.reason = reason
    }
}

extension LayerProblem: CustomStringConvertible {
    /// `PATH:LINE:COLUMN: reason`, without the unknown parts.
    package var description: String {
        let place = [line, column].compactMap { $0 }.map { ":\($0)" }.joined()
        return "\(path)\(place): \(reason)"
    }
}

/// The messages.
extension LayerProblem {
    /// A directory or a file cannot be opened or read.
    static func system(_ code: Int32, _ path: String) -> LayerProblem {
        switch code {
        case ENOENT where isLink(path):
            LayerProblem(.unreadable, path, "It is a link to a file that does not exist.")
        case ENOENT:
            LayerProblem(.notFound, path, "It does not exist.")
        default:
            LayerProblem(
                [EMFILE, ENFILE, ENOMEM].contains(code) ? .noMeans : .unreadable, path,
                "It cannot be read: \(SystemError.words(for: code)).")
        }
    }

    private static func isLink(_ path: String) -> Bool {
        FileStatus.ifAny(path, followingLinks: false)?.kind == .link
    }

    /// The system cannot watch the places.
    package static func notWatched(_ path: String, _ code: Int32) -> LayerProblem {
        LayerProblem(
            .notWatched, path,
            "The system does not report changes of these files "
                + "(\(SystemError.words(for: code))). They are read every 30 seconds and on SIGHUP instead. To fix it, raise "
                + "fs.inotify.max_user_instances or fs.inotify.max_user_watches.")
    }

    static func noRegularFile(_ path: String, is kind: String) -> LayerProblem {
        LayerProblem(.unreadable, path, "It is \(kind); only regular files are read.")
    }

    static func fileTooLarge(_ path: String, limit: Int) -> LayerProblem {
        LayerProblem(
            .tooLarge, path, "The file is larger than \(limit >> 20) MiB, the limit.")
    }

    static func filesTooLarge(_ path: String) -> LayerProblem {
        LayerProblem(
            .tooLarge, path,
            "With this file, the files of the layer are larger than the limit for all. Remove some, or "
                + "use several domains.")
    }

    static func fileIsEmpty(_ path: String) -> LayerProblem {
        LayerProblem(.syntax, path, "The file is empty; a file without values must contain {}.")
    }

    /// A key of the domain of the service's options is none of them.
    ///
    /// - Parameter meant: The option that was probably meant.
    package static func unknownOption(
        _ path: String, _ key: Key, meant: String?
    ) -> LayerProblem {
        let advice = meant.map { " Did you mean \($0)?" } ?? ""
        return LayerProblem(
            .ignoredOption, path,
            "The service has no option \(key.name.quotedForMessage), and ignores it.\(advice)")
    }

    /// An option of the service has a value that it cannot have.
    package static func badOption(_ path: String, _ option: some NumberOption) -> LayerProblem {
        LayerProblem(
            .ignoredOption, path,
            "\(option.rawValue) is ignored: it must be a whole number from "
                + "\(option.bounds.lowerBound) to \(option.bounds.upperBound).")
    }

    /// A key about the service has a value that is not a list of texts.
    package static func notTexts(_ path: String, _ key: Key) -> LayerProblem {
        LayerProblem(
            .ignoredOption, path,
            "\(key.name) is ignored: it must be a list of texts.")
    }

    /// A file has a name that is not read in its place.
    static func nameIsIgnored(_ path: String) -> LayerProblem {
        LayerProblem(
            .badName, path,
            "It is ignored. The files that are read are named DOMAIN.json or DOMAIN.plist, or are in "
                + "DOMAIN.d and end in .json or .plist. They are not hidden.")
    }

    /// A file has the name of a directory of drop-ins.
    static func noDirectory(_ path: String) -> LayerProblem {
        LayerProblem(
            .badName, path,
            "It is ignored: a name that ends in .d must be that of a directory. "
                + "A file is named DOMAIN.json or DOMAIN.plist.")
    }

    /// The database refuses the values of a layer's files.
    package static func notTaken(_ path: String, _ cause: any Error) -> LayerProblem {
        LayerProblem(.tooLarge, path, "Its values are not in force. \(cause)")
    }

    static func twoMainFiles(_ path: String, over other: String) -> LayerProblem {
        LayerProblem(
            .twoMainFiles, path,
            "There is also \(other.quotedForMessage). Both are read; if both have the same key, "
                + "this one counts.")
    }

    static func noDropIns(_ path: String) -> LayerProblem {
        LayerProblem(.noDropIns, path, "No file in it is read: none ends in .json or .plist.")
    }

    static func likeGlobalDomain(_ path: String, _ name: String) -> LayerProblem {
        LayerProblem(
            .likeGlobalDomain, path,
            "It is for an application with the ID \(name.quotedForMessage). Values for all "
                + "applications are in \(GlobalDomain.name), with these capitals.")
    }

    static func notForAllUsers(
        _ path: String, mode: String, isDirectory: Bool
    ) -> LayerProblem {
        LayerProblem(
            .notForAllUsers, path,
            "Some users cannot read it, so it does not apply to them: its mode is \(mode); "
                + "fix it with chmod o+r\(isDirectory ? "x" : "").")
    }

    static func writable(_ path: String, mode: String, by whom: String) -> LayerProblem {
        LayerProblem(
            .writable, path,
            "It can be written by \(whom), not only by its owner: its mode is \(mode); "
                + "fix it with chmod go-w.")
    }

    /// Standard input, given instead of a file, cannot be read.
    package static func unreadable(_ path: String, _ reason: String) -> LayerProblem {
        LayerProblem(.unreadable, path, reason)
    }

    static func nameIsNoText(_ path: String) -> LayerProblem {
        LayerProblem(.badName, path, "It is ignored: its name is not UTF-8.")
    }

    /// A file or directory is named like that of a domain, but such a domain is not possible.
    static func noDomain(_ path: String, _ error: ModelError) -> LayerProblem {
        LayerProblem(
            .badName, path,
            "It is ignored, because its name is not a domain's. \(error.description)")
    }
}
