import DBus
import DefaultsFiles
import DefaultsModel

/// What the tool tells of the layers that are made of files.
extension DefaultsObject {
    func listLayerFiles(_ call: MethodCall) throws {
        try call.reply { reply in
            try reply.writeArray(of: "(ssss)") { array in
                for (domain, known) in layers.known.sorted(by: { $0.key < $1.key }) {
                    for file in known.files {
                        try array.writeStructure {
                            try $0.writeString(domain.layer.name)
                            try $0.writeString(domain.name)
                            try $0.writeString(file.path.description)
                            try $0.writeString(known.problems[file.path]?.description ?? "")
                        }
                    }
                }
                for problem in layers.problems.sorted(by: { $0.path < $1.path }) {
                    try array.writeStructure {
                        try $0.writeString("")
                        try $0.writeString("")
                        try $0.writeString(problem.path)
                        try $0.writeString(problem.description)
                    }
                }
            }
        }
    }

    func listLocks(_ call: MethodCall) throws {
        let domain = try call.arguments { try Domain(ofApplication: $0.readString()) }
        let locks = try SearchList(of: domain, on: hosts.this.id).places
            .filter { $0.domain.layer == .managed }
            .flatMap { try self.locks(of: $0.domain) }
        try call.reply { reply in
            try reply.writeArray(of: "(ss)") { array in
                for lock in locks {
                    try array.writeStructure {
                        try $0.writeString(lock.pattern)
                        try $0.writeString(lock.path)
                    }
                }
            }
        }
    }
}
