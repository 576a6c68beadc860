import DBus
import DefaultsFiles
import DefaultsModel
import DefaultsProtocol
import DefaultsTerms

/// What the tool tells of the layers that are made of files.
extension DefaultsObject {
    func listLayerFiles(_ call: MethodCall) throws {
        let known = layers.known.sorted { $0.key < $1.key }.flatMap { domain, known in
            known.files.map { file -> Contract.ListLayerFiles.Row in
                (
                    domain.layer.name.rawValue, domain.name, file.path.description,
                    known.problems[file.path]?.description ?? ""
                )
            }
        }
        let others = layers.problems.sorted { $0.path < $1.path }
            .map { problem -> Contract.ListLayerFiles.Row in
                ("", "", problem.path, problem.description)
            }
        try call.reply { try Contract.ListLayerFiles.writeReply(known + others, to: &$0) }
    }

    func listLocks(_ call: MethodCall) throws {
        let domain = try call.arguments {
            try Contract.ListLocks.readArguments(from: &$0, by: ApplicationNames())
        }
        let locks = try SearchList(of: domain, on: hosts.this.id).places
            .filter { $0.domain.layer == .managed }
            .flatMap { try self.locks(of: $0.domain) }
        try call.reply { try Contract.ListLocks.writeReply(locks, to: &$0) }
    }
}
