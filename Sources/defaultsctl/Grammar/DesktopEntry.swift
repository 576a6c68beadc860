/// What a desktop file says of its application.
struct DesktopEntry {
    private static let largestFile = 1 << 20

    /// The name of the file, which is the application ID.
    let identifier: String
    /// The name in every language.
    let names: [String]

    /// Reads a desktop file; nil where it cannot be read, or says that the application is not there.
    init?(identifier: String, path: String) {
        guard let bytes = try? InputFile.contents(of: path, limit: Self.largestFile) else {
            return nil
        }
        self.identifier = identifier
        var names: [String] = []
        var isMainGroup = false
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") {
                isMainGroup = line.hasPrefix("[Desktop Entry]")
            } else if isMainGroup, let (key, value) = Self.entry(line) {
                if key == "Hidden", value == "true" { return nil }
                if key == "Name" || key.hasPrefix("Name[") { names.append(value) }
            }
        }
        self.names = names
    }

    private static func entry(_ line: Substring) -> (key: Substring, value: String)? {
        guard let equals = line.firstIndex(of: "="), !line.hasPrefix("#") else { return nil }
        let key = line[..<equals].split(separator: " ").first ?? ""
        let value = line[line.index(after: equals)...].drop { $0 == " " }
        return (key, String(value))
    }
}
