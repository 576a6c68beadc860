import DefaultsClient

extension RemoteLayerFile {
    /// What is wrong with the file, after its path; nil if it is valid.
    var complaint: String? {
        problem.map { $0.hasPrefix(path) ? $0 : "\(path): \($0)" }
    }
}

/// The files of the layers for `status`.
struct LayerFileList {
    private let files: [RemoteLayerFile]

    init(_ files: [RemoteLayerFile]) {
        self.files = files
    }

    /// How many there are, and how many of them are invalid.
    var summary: String {
        let bad = files.count { $0.problem != nil }
        if files.isEmpty { return "none" }
        return bad == 0 ? "\(files.count)" : "\(files.count), \(bad) of them invalid"
    }

    /// A line for each file, and another line for what is wrong with it.
    var lines: [String] {
        var columns = Columns(areNumbers: [false, false, false])
        columns.rows = files.map {
            // A file whose name is not a domain belongs to no layer.
            [$0.layer.rawValue, $0.domain].map { $0.isEmpty ? "-" : $0.onOneLine }
                + [$0.path.onOneLine]
        }
        return zip(columns.lines, files).flatMap { line, file in
            ["  \(line)"] + [file.complaint].compactMap(\.self).map { "    \($0.onOneLine)" }
        }
    }

    var json: String {
        get throws {
            let objects = try files.map {
                try ShownJSON.object([
                    ("layer", $0.layer.rawValue.quoted), ("domain", $0.domain.quoted),
                    ("path", $0.path.quoted),
                    ("problem", $0.problem.map { try $0.quoted } ?? "null"),
                ])
            }
            return "[\(objects.joined(separator: ","))]"
        }
    }
}
