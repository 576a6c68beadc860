import DefaultsFiles
import DefaultsModel
import DefaultsTerms
import KeyedArchive

/// What the service would ignore in a file that sets its options.
enum OptionRemarks {
    static func remarks(on document: LayerDocument, of file: LayerFile) -> [LayerProblem] {
        guard file.domain.name == ServiceOption.domain else { return [] }
        return document.values.compactMap { key, archive in
            guard let option = ServiceOption(rawValue: key.name) else {
                let names = ServiceOption.allCases.map(\.rawValue)
                return .unknownOption(
                    file.path, key, meant: Spelling.nearest(to: key.name, among: names))
            }
            let number = wholeNumber(of: archive)
            return number.map(option.bounds.contains) == true ? nil : .badOption(file.path, option)
        }
    }

    private static func wholeNumber(of archive: KeyedArchive) -> Int? {
        let decoder = KeyedArchiveDecoder()
        return (try? decoder.decode(Int.self, from: archive))
            ?? (try? decoder.decode(Double.self, from: archive)).flatMap { Int(exactly: $0) }
    }
}
