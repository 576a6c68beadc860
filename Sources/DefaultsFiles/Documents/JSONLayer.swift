internal import DefaultsModel
internal import KeyedArchive
internal import PropertyList

/// Reads a JSON file, and reports the line and column of each fault.
struct JSONLayer {
    private let file: LayerFile
    private var reader: JSONObjectReader
    private var contents: LayerContents
    /// The offsets of the locks.
    private var lockOffsets: [Int] = []

    init(_ bytes: [UInt8], of file: LayerFile) throws(LayerProblem) {
        self.file = file
        contents = LayerContents(of: file)
        do throws(JSONError) {
            reader = try JSONObjectReader(bytes, limits: LayerLimits.value)
        } catch {
            throw LayerProblem(error, file.path)
        }
    }

    mutating func read() throws(LayerProblem) -> LayerDocument {
        try readEntries { problem throws(LayerProblem) in throw problem }
        return LayerDocument(contents, remarks: remarks)
    }

    /// All errors and remarks, as far as the text can be read.
    mutating func check() -> (errors: [LayerProblem], remarks: [LayerProblem]) {
        var errors: [LayerProblem] = []
        // Only the closure could throw, and it does not.
        try? readEntries { problem throws(LayerProblem) in errors.append(problem) }
        return (errors, remarks)
    }

    private var remarks: [LayerProblem] {
        contents.idleLocks().map { lock in
            lock.fault.problem(file.path, at: reader.place(ofByte: lockOffsets[lock.position]))
        }
    }

    /// Reads all entries.
    ///
    /// - Parameter report: Called with each error. If it does not throw, the next entry is read.
    private mutating func readEntries(
        _ report: (LayerProblem) throws(LayerProblem) -> Void
    ) throws(LayerProblem) {
        while let name = try nextKey(report) {
            let start = reader.offset
            do throws(LayerProblem) {
                if name == LayerContents.locked {
                    try readLocks(report)
                } else if LayerContents.notes.contains(name) {
                    try reading { reader throws(JSONError) in try reader.skipValue() }
                } else {
                    try readValue(of: name)
                }
            } catch {
                try report(error)
                guard error.code != .tooLarge, error.code != .syntax else { return }
                if reader.offset == start {
                    guard try skipValue(report) else { return }
                }
            }
        }
    }

    /// Reads the next key; nil if there is none, or the rest cannot be read.
    private mutating func nextKey(
        _ report: (LayerProblem) throws(LayerProblem) -> Void
    ) throws(LayerProblem) -> Text? {
        while true {
            do throws(JSONError) {
                return try reader.nextKey()
            } catch {
                try report(LayerProblem(error, file.path))
                // For a duplicate key, the key itself has already been read.
                guard error.cause?.code == .duplicateKey, try skipValue(report) else { return nil }
            }
        }
    }

    /// Skips a value.
    ///
    /// - Returns: Whether the rest can be read.
    private mutating func skipValue(
        _ report: (LayerProblem) throws(LayerProblem) -> Void
    ) throws(LayerProblem) -> Bool {
        do throws(JSONError) {
            try reader.skipValue()
            return true
        } catch {
            try report(LayerProblem(error, file.path))
            return false
        }
    }

    private mutating func readValue(of name: Text) throws(LayerProblem) {
        let offset = reader.keyOffset
        let key = try taking(at: offset) { contents throws(LayerFault) in try contents.key(name) }
        let archive = try reading { reader throws(JSONError) in try reader.value() }
        try taking(at: offset) { contents throws(LayerFault) in
            try contents.add(archive, for: key)
        }
    }

    private mutating func readLocks(
        _ report: (LayerProblem) throws(LayerProblem) -> Void
    ) throws(LayerProblem) {
        guard contents.canLock else {
            throw LayerFault.lockedElsewhere.problem(
                file.path, at: reader.place(ofByte: reader.keyOffset))
        }
        for lock in try reading({ reader throws(JSONError) in try reader.strings() }) {
            do throws(LayerProblem) {
                try taking(at: lock.offset) { contents throws(LayerFault) in
                    try contents.add(lock: lock.text)
                }
                lockOffsets.append(lock.offset)
            } catch {
                try report(error)
            }
        }
    }

    private mutating func reading<Result>(
        _ read: (inout JSONObjectReader) throws(JSONError) -> Result
    ) throws(LayerProblem) -> Result {
        do throws(JSONError) {
            return try read(&reader)
        } catch {
            throw LayerProblem(error, file.path)
        }
    }

    /// Calls `body`, and gives its error the place of an offset.
    private mutating func taking<Result>(
        at offset: Int, _ take: (inout LayerContents) throws(LayerFault) -> Result
    ) throws(LayerProblem) -> Result {
        do throws(LayerFault) {
            return try take(&contents)
        } catch {
            throw error.problem(file.path, at: reader.place(ofByte: offset))
        }
    }
}

extension LayerProblem {
    fileprivate init(_ error: JSONError, _ path: String) {
        let code: Code =
            switch error.code {
            case .syntax: .syntax
            default: error.cause?.code == .duplicateKey ? .badKey : .badValue
            }
        self.init(code, path, at: (error.line, error.column), error.message)
    }
}
