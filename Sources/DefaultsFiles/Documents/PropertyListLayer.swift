internal import DefaultsModel
internal import DomainForms
internal import KeyedArchive
internal import PropertyList
internal import XMLPropertyList

/// Reads a property list, in XML or binary, and reports the place of each fault.
struct PropertyListLayer {
    private let file: LayerFile
    private let list: PropertyList
    /// The same list with the places in the XML; nil if the file is binary.
    private let document: XMLPropertyList?
    private var contents: LayerContents
    /// The position of the entry with the locks.
    private var lockedPosition: Int?

    /// Reads a property list in XML.
    init(xml bytes: [UInt8], of file: LayerFile) throws(LayerProblem) {
        self.file = file
        contents = LayerContents(of: file)
        do {
            let document = try XMLPropertyList(bytes, limits: LayerLimits.list)
            self.document = document
            list = try PropertyList(document.binary, limits: .domain)
        } catch let error as XMLPropertyListError {
            throw LayerProblem(
                error.code == .limitExceeded ? .tooLarge : .syntax, file.path,
                at: (error.place.line, error.place.column), error.message)
        } catch {
            throw LayerProblem(.syntax, file.path, "\(error)")
        }
    }

    /// Reads a binary property list.
    init(binary bytes: [UInt8], of file: LayerFile) throws(LayerProblem) {
        self.file = file
        contents = LayerContents(of: file)
        document = nil
        do throws(PropertyListError) {
            list = try PropertyList(bytes, limits: LayerLimits.list)
        } catch {
            throw LayerProblem(
                error.code == .limitExceeded ? .tooLarge : .syntax, file.path, "\(error)")
        }
    }

    mutating func read() throws(LayerProblem) -> LayerDocument {
        let entries = try readEntries { problem throws(LayerProblem) in throw problem }
        return LayerDocument(contents, remarks: remarks(entries))
    }

    /// All errors and remarks.
    mutating func check() -> (errors: [LayerProblem], remarks: [LayerProblem]) {
        var errors: [LayerProblem] = []
        do throws(LayerProblem) {
            let entries = try readEntries { problem throws(LayerProblem) in errors.append(problem) }
            return (errors, remarks(entries))
        } catch {
            return ([error], [])
        }
    }

    /// Reads all entries.
    ///
    /// - Parameter report: Called with each error. If it does not throw, the next entry is read.
    private mutating func readEntries(
        _ report: (LayerProblem) throws(LayerProblem) -> Void
    ) throws(LayerProblem) -> PropertyListEntries {
        guard let entries = PropertyListEntries(of: list) else {
            throw problem(
                LayerFault(.syntax, "The property list is not a dictionary."), nil, list.root)
        }
        for position in 0..<entries.count {
            do throws(LayerFault) {
                try read(position, of: entries)
            } catch {
                try report(problem(error, position, entries.value(at: position)))
                guard error.code != .tooLarge else { break }
            }
        }
        return entries
    }

    private mutating func read(
        _ position: Int, of entries: PropertyListEntries
    ) throws(LayerFault) {
        guard let name = entries.key(at: position) else { throw .keyIsNoText }
        guard Text(name) != LayerContents.locked else {
            lockedPosition = position
            return try addLocks(at: entries.value(at: position))
        }
        guard !LayerContents.notes.contains(Text(name)) else { return }
        let key = try contents.key(Text(name))
        try contents.add(archive(at: position, of: entries, key), for: key)
    }

    private func archive(
        at position: Int, of entries: PropertyListEntries, _ key: Key
    ) throws(LayerFault) -> KeyedArchive {
        do {
            return try entries.archive(at: position, limits: LayerLimits.value)
        } catch let error as ArchiveError {
            // The offset is not reported: it is one in a copy of the archive.
            throw .badValue(key, error.message)
        } catch {
            throw .badValue(key, "\(error)")
        }
    }

    private mutating func addLocks(at index: ObjectIndex) throws(LayerFault) {
        guard contents.canLock else { throw .lockedElsewhere }
        guard case .array(let elements) = list.value(at: index) else { throw .locksAreNoList }
        for position in 0..<elements.count {
            guard let text = list.text(at: list.element(position, of: elements)) else {
                throw .locksAreNoList
            }
            try contents.add(lock: text)
        }
    }

    private func remarks(_ entries: PropertyListEntries) -> [LayerProblem] {
        var remarks: [LayerProblem] = []
        if let place = document?.repeatedKey {
            remarks.append(
                LayerProblem(
                    .repeatedKey, file.path, at: (place.line, place.column),
                    "The key is in the same dictionary twice; the last one counts."))
        }
        if let position = lockedPosition {
            remarks += contents.idleLocks().map {
                problem($0.fault, position, entries.value(at: position))
            }
        }
        return remarks
    }

    /// Adds the place to a fault: of the key in XML, the offset of the value in a binary list.
    private func problem(
        _ fault: LayerFault, _ position: Int?, _ value: ObjectIndex
    ) -> LayerProblem {
        guard let document else {
            return LayerProblem(
                fault.code, file.path, "\(fault.reason) (byte \(list.byteOffset(of: value)))")
        }
        let places = document.rootKeyPlaces
        let place = position.map { places[$0] } ?? document.place(ofByte: 0)
        return fault.problem(file.path, at: (place.line, place.column))
    }
}
