internal import DefaultsModel
internal import KeyedArchive
internal import PropertyList

/// Reads a file in JSON, and tells where in it things stand.
struct JSONLayer {
    private let file: LayerFile
    private var reader: JSONObjectReader
    private var contents: LayerContents
    /// Where the locks stand, in bytes.
    private var lockOffsets: [Int] = []

    init(_ bytes: [UInt8], of file: LayerFile) throws(LayerProblem) {
        guard !Self.hasByteOrderMark(bytes) else {
            throw LayerProblem(
                .syntax, file.path, at: (1, 1),
                "The file begins with a byte order mark. JSON is plain UTF-8, without one.")
        }
        self.file = file
        contents = LayerContents(of: file)
        do throws(JSONError) {
            reader = try JSONObjectReader(bytes, limits: LayerLimits.json)
        } catch {
            throw LayerProblem(error, file.path)
        }
    }

    mutating func read() throws(LayerProblem) -> LayerDocument {
        while let name = try next() {
            if name == LayerContents.locked {
                try readLocks()
            } else {
                try readValue(of: name)
            }
        }
        let remarks = contents.idleLocks().map { lock in
            lock.fault.problem(file.path, at: reader.place(ofByte: lockOffsets[lock.position]))
        }
        return LayerDocument(contents, remarks: remarks)
    }

    private mutating func next() throws(LayerProblem) -> Text? {
        try reading { reader throws(JSONError) in try reader.nextKey() }
    }

    private mutating func readValue(of name: Text) throws(LayerProblem) {
        let offset = reader.keyOffset
        let key = try taking(at: offset) { contents throws(LayerFault) in try contents.key(name) }
        let archive = try reading { reader throws(JSONError) in try reader.value() }
        try taking(at: offset) { contents throws(LayerFault) in
            try contents.add(archive, for: key)
        }
    }

    private mutating func readLocks() throws(LayerProblem) {
        guard contents.canLock else {
            throw LayerFault.lockedElsewhere.problem(
                file.path, at: reader.place(ofByte: reader.keyOffset))
        }
        for lock in try reading({ reader throws(JSONError) in try reader.strings() }) {
            try taking(at: lock.offset) { contents throws(LayerFault) in
                try contents.add(lock: lock.text)
            }
            lockOffsets.append(lock.offset)
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

    /// Hands the contents what stands at an offset.
    private mutating func taking<Result>(
        at offset: Int, _ take: (inout LayerContents) throws(LayerFault) -> Result
    ) throws(LayerProblem) -> Result {
        do throws(LayerFault) {
            return try take(&contents)
        } catch {
            throw error.problem(file.path, at: reader.place(ofByte: offset))
        }
    }

    private static func hasByteOrderMark(_ bytes: [UInt8]) -> Bool {
        let marks: [[UInt8]] = [[0xEF, 0xBB, 0xBF], [0xFE, 0xFF], [0xFF, 0xFE]]
        return marks.contains { bytes.starts(with: $0) }
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
