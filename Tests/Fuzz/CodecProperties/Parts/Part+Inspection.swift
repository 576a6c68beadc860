import ArchiveInspection
import KeyedArchive

extension Part {
    /// What is shown to people: printable whatever the strings hold, and no longer than it may be.
    static let inspection = Part("inspection") { bytes in
        guard let archive = try validated(bytes) else { return .refused }
        let isCheap = try ArchiveParts(of: bytes).isCheap
        for isASCII in [false, true] {
            var options = InspectionOptions()
            options.linesAreASCII = isASCII
            options.stringsAreASCII = isASCII
            options.opensArchives = isASCII
            options.limit = 1 << 16
            let check = ListingCheck(of: archive, options, isSure: isCheap)
            try check.run(ArchiveTree(of: archive, options: options))
            try check.run(ArchiveTree.objectTable(of: archive, options: options))
            try check.run(ClassListing(of: archive, options: options))
        }
        return .accepted
    }
}

/// The check of what an archive is shown as.
private struct ListingCheck {
    private let archive: KeyedArchive
    private let options: InspectionOptions
    /// Whether the archive is none that becomes larger the more of it is shared.
    private let isSure: Bool

    init(of archive: KeyedArchive, _ options: InspectionOptions, isSure: Bool) {
        self.archive = archive
        self.options = options
        self.isSure = isSure
    }

    func run(_ listing: some InspectionListing) throws {
        var listing = listing
        let limit = options.limit + 32 * archive.bytes.count
        var size = 0
        do {
            while let line = try listing.next() {
                let text = line.description
                try require(
                    text.unicodeScalars.allSatisfy(isPrintable), "A line is not printable: \(text)")
                size += text.utf8.count + 1
                try require(size <= limit, "More is shown than the limit allows.")
            }
        } catch let error as ArchiveError {
            try Refusals.check(error, of: archive.bytes)
            try require(
                error.code == .outputTooLarge && !isSure,
                "A plain archive cannot be shown: \(error)")
        }
    }

    private func isPrintable(_ character: Unicode.Scalar) -> Bool {
        guard character.isASCII || !options.stringsAreASCII else { return false }
        return switch character.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: false
        default: true
        }
    }
}
