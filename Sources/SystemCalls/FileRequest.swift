internal import Glibc

/// What a confined process asks its helper about files, and the answers.
enum FileRequest {
    /// These are the places. It is the first request.
    case begin(FileKeeper.Places)
    case open(String, flags: Int32)
    case makeDirectory(String)
    case rename(String, to: String)
    case unlink(String)
    case reopen(FileDescriptor)

    /// Other requests have other numbers.
    private enum Kind: UInt64 {
        case begin = 16
        case open, makeDirectory, rename, unlink, reopen
    }

    var letter: RequestSocket.Letter {
        var parcel = Parcel()
        switch self {
        case .begin(let places):
            parcel.put(Kind.begin.rawValue)
            for paths in [places.own, places.read, places.links] {
                parcel.put(UInt64(paths.count))
                for path in paths { parcel.put(path) }
            }
            parcel.put(UInt64(places.databases))
        case .open(let path, let flags):
            parcel.put(Kind.open.rawValue)
            parcel.put(path)
            parcel.put(UInt64(UInt32(bitPattern: flags)))
        case .makeDirectory(let path):
            parcel.put(Kind.makeDirectory.rawValue)
            parcel.put(path)
        case .rename(let path, let other):
            parcel.put(Kind.rename.rawValue)
            parcel.put(path)
            parcel.put(other)
        case .unlink(let path):
            parcel.put(Kind.unlink.rawValue)
            parcel.put(path)
        case .reopen(let descriptor):
            parcel.put(Kind.reopen.rawValue)
            return .init(parcel, descriptor)
        }
        return .init(parcel)
    }

    /// - Parameter descriptor: What came with the request.
    init?(takenFrom parcel: inout Parcel, with descriptor: FileDescriptor?) {
        let kind = parcel.takeNumber().flatMap(Kind.init)
        let request: FileRequest? =
            switch kind {
            case .begin: Self.places(&parcel).map { .begin($0) }
            case .reopen: descriptor.map { .reopen($0) }
            case .makeDirectory: Self.path(&parcel).map { .makeDirectory($0) }
            case .unlink: Self.path(&parcel).map { .unlink($0) }
            case .open:
                Self.path(&parcel).flatMap { path in
                    let flags = parcel.takeNumber().map { Int32(truncatingIfNeeded: $0) }
                    return flags.map { .open(path, flags: $0) }
                }
            case .rename:
                Self.path(&parcel).flatMap { path in
                    Self.path(&parcel).map { .rename(path, to: $0) }
                }
            case nil: nil
            }
        guard let request else { return nil }
        self = request
    }

    private static func path(_ parcel: inout Parcel) -> String? {
        parcel.takeText().flatMap { $0.utf8.contains(0) ? nil : $0 }
    }

    private static func places(_ parcel: inout Parcel) -> FileKeeper.Places? {
        guard let own = paths(&parcel), let read = paths(&parcel), let links = paths(&parcel),
            let databases = parcel.takeNumber().flatMap(UInt32.init(exactly:))
        else { return nil }
        return FileKeeper.Places(own: own, read: read, links: links, databases: databases)
    }

    private static func paths(_ parcel: inout Parcel) -> [String]? {
        guard let count = parcel.takeNumber(), count < 1024 else { return nil }
        var paths: [String] = []
        for _ in 0..<count {
            guard let path = path(&parcel) else { return nil }
            paths.append(path)
        }
        return paths
    }
}

// MARK: Answers

extension FileRequest {
    /// - Parameter descriptor: What was opened.
    static func success(_ descriptor: FileDescriptor?) -> RequestSocket.Letter {
        answer(0, descriptor)
    }

    static func failure(_ error: Int32) -> RequestSocket.Letter {
        answer(error, nil)
    }

    private static func answer(
        _ error: Int32, _ descriptor: FileDescriptor?
    ) -> RequestSocket.Letter {
        var parcel = Parcel()
        parcel.put(UInt64(error))
        return .init(parcel, descriptor)
    }

    /// Asks, and sets `errno` if the answer is an error.
    ///
    /// - Returns: What was opened, and whether there was no error. Nil if the helper has ended.
    func ask(_ helper: RequestSocket) -> (isDone: Bool, descriptor: FileDescriptor?)? {
        guard var answer = helper.ask(letter), let error = answer.parcel.takeNumber() else {
            return nil
        }
        guard error == 0 else {
            errno = Int32(truncatingIfNeeded: error)
            return (false, nil)
        }
        return (true, answer.descriptor)
    }
}
