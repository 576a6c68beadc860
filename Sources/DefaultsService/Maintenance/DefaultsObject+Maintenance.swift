import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage

/// What only the project's own tool asks for.
extension DefaultsObject {
    /// The interface beside the contract's, every method of it closed to callers in a sandbox.
    func maintenanceInterface() -> Interface {
        Interface(
            Contract.maintenanceInterface,
            methods: [
                closedMethod(Contract.getStatistics) { try $0.getStatistics($1) },
                closedMethod(Contract.findWriter) { try $0.findWriter($1) },
                closedMethod(Contract.listWriters) { try $0.listWriters($1) },
                closedMethod(Contract.measureDomain) { try $0.measureDomain($1) },
                closedMethod(Contract.listHosts) { try $0.listHosts($1) },
                closedMethod(Contract.listLayerFiles) { try $0.listLayerFiles($1) },
                closedMethod(Contract.listLocks) { try $0.listLocks($1) },
                closedMethod(Contract.listBackups) { try $0.listBackups($1) },
                closedMethod(Contract.backUp) { $0.backUp($1) },
                closedMethod(Contract.restoreBackup) { try $0.restoreBackup($1) },
                closedMethod(Contract.restore) { try $0.restore($1) },
                closedMethod(Contract.handOver) { try $0.handOver($1) },
            ])
    }

    private func closedMethod(
        _ declaration: MethodDeclaration, answeredBy answer: @escaping Answer
    ) -> Method {
        method(declaration) { object, call in
            try object.checkUnconfined(call)
            try answer(object, call)
        }
    }

    private func getStatistics(_ call: MethodCall) throws {
        // Those that cannot be listed are told of by ListBackups.
        let facts = statistics.facts(of: database, backups: (try? database.backups()) ?? [])
        try call.reply { try $0.writeValue(.dictionary(key: "s", value: "v", facts)) }
    }

    private func listHosts(_ call: MethodCall) throws {
        let hosts = try database.knownHosts()
        try NamesSize.check(
            hosts.flatMap { [$0.id.name, $0.name] }, room: Limits.maximumReplySize)
        noteWork(onEntries: hosts.count)
        try call.reply { reply in
            try reply.writeArray(of: "(ss)") { array in
                for host in hosts {
                    try array.writeStructure {
                        try $0.writeString(host.id.name)
                        try $0.writeString(host.name)
                    }
                }
            }
        }
    }

    private func listBackups(_ call: MethodCall) throws {
        let backups = try database.backups()
        try call.reply { reply in
            try reply.writeArray(of: "(sttst)") { array in
                for backup in backups {
                    try array.writeStructure {
                        try $0.writeString(backup.name)
                        try $0.writeUInt64(backup.date)
                        try $0.writeUInt64(backup.generation.rawValue)
                        try $0.writeString(backup.kind.rawValue)
                        try $0.writeUInt64(UInt64(backup.size))
                    }
                }
            }
        }
    }

    /// The tool acts for the user; the backups of other programs do not take the place of its own.
    private func backUp(_ call: MethodCall) {
        let process = call.credentials?.processID
        let kind: Backup.Kind = process.map(ProgramFile.isTool) == true ? .manual : .program
        request(
            .backup(kind) { outcome in
                call.answer(with: outcome) { try $0.writeString($1.name) }
            })
    }

    private func restoreBackup(_ call: MethodCall) throws {
        let name = try call.arguments { try $0.readString() }
        let restoration = Restoration(source: .backup(name), origin: origin(of: call))
        request(
            .restoration(restoration) { outcome in
                call.answer(with: outcome) {
                    try $0.writeString($1.undo?.name ?? "")
                    try $0.writeUInt64($1.set)
                    try $0.writeUInt64($1.removed)
                    try $0.writeUInt64($1.damaged)
                    try $0.writeUInt64($1.locked)
                }
            })
    }

    private func restore(_ call: MethodCall) throws {
        let (name, path, domains, isDry) = try call.arguments {
            (
                try $0.readString(), try $0.readString(), try $0.readStrings(), try $0.readBool()
            )
        }
        guard name.isEmpty || path.isEmpty else { throw DefaultsError.backupTwice }
        guard path.isEmpty || path.hasPrefix("/") else { throw DefaultsError(relativeBackup: path) }
        var restoration = Restoration(
            source: path.isEmpty ? .backup(name) : .file(path), origin: origin(of: call))
        restoration.domains = Set(try domains.map { try Domain($0, on: hosts) })
        restoration.isDry = isDry
        request(
            .restoration(restoration) { [self] outcome in
                call.answer(with: outcome) { try write($1, to: &$0) }
            })
    }

    private func write(_ report: RestorationReport, to reply: inout MessageWriter) throws {
        try reply.writeString(report.undo?.name ?? "")
        for count in [report.set, report.removed, report.damaged, report.locked] {
            try reply.writeUInt64(count)
        }
        try reply.writeArray(of: "(sasast)") { array in
            for part in report.parts {
                try array.writeStructure {
                    try $0.writeString(part.domain.spelling(on: hosts))
                    try $0.writeStrings(part.set.map(\.name))
                    try $0.writeStrings(part.removed.map(\.name))
                    try $0.writeUInt64(part.locked)
                }
            }
        }
    }
}

extension MethodCall {
    /// Answers the call with what has come of it.
    fileprivate func answer<Success>(
        with outcome: Result<Success, any Error>,
        _ write: (inout MessageWriter, Success) throws -> Void
    ) {
        switch outcome {
        // A reply that cannot be sent has answered with that error, or nobody is there.
        case .success(let success): try? reply { try write(&$0, success) }
        case .failure(let error): fail(error)
        }
    }
}
