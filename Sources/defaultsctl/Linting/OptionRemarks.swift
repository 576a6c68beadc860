import DefaultsFiles
import DefaultsModel
import DefaultsTerms
import KeyedArchive

/// What the service would ignore in a file that sets its options.
enum OptionRemarks {
    static func remarks(on document: LayerDocument, of file: LayerFile) -> [LayerProblem] {
        switch file.domain.name {
        case ServiceOption.domain: remarks(on: document, of: file, ServiceOption.self)
        case HistoryOption.domain:
            remarks(
                on: document, of: file, HistoryOption.self,
                lists: [HistoryTerms.excluded, HistoryTerms.background])
        default: []
        }
    }

    /// - Parameter lists: The keys whose values are lists of texts.
    private static func remarks<Option: NumberOption>(
        on document: LayerDocument, of file: LayerFile, _ options: Option.Type, lists: [String] = []
    ) -> [LayerProblem] {
        document.values.compactMap { key, archive in
            if lists.contains(key.name) {
                return isListOfTexts(archive) ? nil : .notTexts(file.path, key)
            }
            guard let option = Option(rawValue: key.name) else {
                let names = Option.allCases.map(\.rawValue) + lists
                return .unknownOption(
                    file.path, key, meant: Spelling.nearest(to: key.name, among: names))
            }
            let number = wholeNumber(of: archive)
            return number.map(option.bounds.contains) == true ? nil : .badOption(file.path, option)
        }
    }

    private static func isListOfTexts(_ archive: KeyedArchive) -> Bool {
        (try? KeyedArchiveDecoder().decode([String].self, from: archive)) != nil
    }

    private static func wholeNumber(of archive: KeyedArchive) -> Int? {
        let decoder = KeyedArchiveDecoder()
        return (try? decoder.decode(Int.self, from: archive))
            ?? (try? decoder.decode(Double.self, from: archive)).flatMap { Int(exactly: $0) }
    }
}
