internal import DefaultsModel
internal import DefaultsTerms

/// The note of a change in the journal: what the history is to know about it.
///
///     kind (1 byte), flags (1 byte; 1: coalesced), the action that it goes on with (8; 0: none),
///     unused (8), seconds since 1970 (8), program, application, machine and owner (texts), generations of the
///     actions that it takes back or does again (a list)
extension [UInt8] {
    private static let isCoalescedFlag: UInt8 = 1

    /// Appends a note.
    mutating func append(_ note: ChangeNote) {
        append(note.kind.number)
        append(note.isCoalesced ? Self.isCoalescedFlag : 0)
        append(littleEndian: note.action?.rawValue ?? 0)
        append(littleEndian: UInt64(0))
        append(littleEndian: note.time)
        let author = note.author
        for text in [author.program, author.application, author.machine, author.owner] {
            append(text: text.fitting(UInt16.max), lengthAs: UInt16.self)
        }
        append(littleEndian: UInt32(note.references.count))
        for reference in note.references { append(littleEndian: reference.rawValue) }
    }
}

extension ByteReader {
    /// Reads a note; nil if the bytes are none.
    mutating func note() -> ChangeNote? {
        guard let kind = integer(UInt8.self).flatMap(HistoryTerms.Kind.init(number:)),
            let flags = integer(UInt8.self), flags <= 1, let action = integer(UInt64.self),
            integer(UInt64.self) != nil, let time = integer(Int64.self),
            let program = text(lengthAs: UInt16.self),
            let application = text(lengthAs: UInt16.self),
            let machine = text(lengthAs: UInt16.self), let owner = text(lengthAs: UInt16.self),
            let references = list(of: {
                $0.integer(UInt64.self).flatMap(Generation.init(fromFile:))
            })
        else { return nil }
        var note = ChangeNote(
            author: ChangeAuthor(
                program: program, application: application, machine: machine, owner: owner),
            kind: kind, action: Generation(fromFile: action), time: time, references: references)
        note.isCoalesced = flags != 0
        return note
    }
}

extension String {
    /// As many of its first characters as take up so many bytes at most.
    ///
    /// A program chooses its name, and a name that the length cannot count must not stop the service.
    fileprivate func fitting(_ most: UInt16) -> String {
        guard utf8.count > Int(most) else { return self }
        var end = utf8.index(startIndex, offsetBy: Int(most))
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}

extension HistoryTerms.Kind {
    /// The kinds by their numbers in files, which never change.
    private static let byNumber: [HistoryTerms.Kind] = [
        .change, .undo, .redo, .document, .roam, .restore, .answer, .late,
    ]

    /// The number in files.
    var number: UInt8 { UInt8(HistoryTerms.Kind.byNumber.firstIndex(of: self) ?? 0) }

    /// The kind with a number; nil if none has it.
    init?(number: UInt8) {
        guard HistoryTerms.Kind.byNumber.indices.contains(Int(number)) else { return nil }
        self = HistoryTerms.Kind.byNumber[Int(number)]
    }
}
