import DBus
import DefaultsCore
import DefaultsFiles
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms

/// Methods for the project's own tool.
extension BusFace {
    /// The maintenance interface.
    ///
    /// Callers in a sandbox may not use any of its methods.
    func maintenanceInterface() -> Interface {
        Interface(
            Contract.maintenanceInterface,
            methods: [
                closedMethod(Contract.GetStatistics.self) { try $0.getStatistics($1) },
                closedMethod(Contract.FindWriter.self) { try $0.findWriter($1) },
                closedMethod(Contract.ListWriters.self) { try $0.listWriters($1) },
                closedMethod(Contract.MeasureDomain.self) { try $0.measureDomain($1) },
                closedMethod(Contract.ListQuotas.self) { try $0.listQuotas($1) },
                closedMethod(Contract.ListHosts.self) { try $0.listHosts($1) },
                closedMethod(Contract.ListLayerFiles.self) { try $0.listLayerFiles($1) },
                closedMethod(Contract.ListLocks.self) { try $0.listLocks($1) },
                closedMethod(Contract.ListBackups.self) { try $0.listBackups($1) },
                closedMethod(Contract.BackUp.self) { $0.backUp($1) },
                closedMethod(Contract.RestoreBackup.self) { try $0.restoreBackup($1) },
                closedMethod(Contract.Restore.self) { try $0.restore($1) },
                closedMethod(Contract.HandOver.self) { try $0.handOver($1) },
            ])
    }

    /// A method that refuses callers in a sandbox.
    func closedMethod(
        _ call: any Call.Type, answeredBy answer: @escaping Answer
    ) -> Method {
        method(call) { face, call in
            try face.checkUnconfined(call)
            try answer(face, call)
        }
    }

    private func getStatistics(_ call: MethodCall) throws {
        // If the backups cannot be listed, ListBackups reports it.
        let facts = settings.statistics.facts(
            of: store.database, backups: (try? store.database.backups()) ?? [],
            waitingSignals: signals.count, at: connection.loop.continuousNow)
        try call.reply { try Contract.GetStatistics.writeReply(facts, to: &$0) }
    }

    private func listHosts(_ call: MethodCall) throws {
        let hosts = try store.database.knownHosts()
        try NamesSize.check(
            hosts.flatMap { [$0.id.name, $0.name] }, room: ContractLimits.maximumReplySize)
        settings.memory.noteWork(onEntries: hosts.count)
        try call.reply {
            try Contract.ListHosts.writeReply(
                hosts.lazy.map { (id: $0.id.name, name: $0.name) }, to: &$0)
        }
    }

    private func listBackups(_ call: MethodCall) throws {
        let rows = try store.database.backups().map {
            (
                name: $0.name, date: $0.date, generation: $0.generation.rawValue,
                kind: $0.kind.rawValue, size: UInt64($0.size)
            )
        }
        try call.reply { try Contract.ListBackups.writeReply(rows, to: &$0) }
    }

    /// The tool acts for the user.
    ///
    /// Backups of other programs do not replace the user's own.
    private func backUp(_ call: MethodCall) {
        let process = call.credentials?.processID
        let kind: Backup.Kind = process.map(examiner.isTool) == true ? .manual : .program
        settings.request(
            .backup(kind) { outcome in
                call.answer(with: outcome) { try Contract.BackUp.writeReply($1.name, to: &$0) }
            })
    }

    private func restoreBackup(_ call: MethodCall) throws {
        let name = try call.arguments { try Contract.RestoreBackup.readArguments(from: &$0) }
        let restoration = Restoration(source: .backup(name), origin: noted(call).origin)
        settings.request(
            .restoration(restoration) { outcome in
                call.answer(with: outcome) {
                    try Contract.RestoreBackup.writeReply($1.counts, to: &$0)
                }
            })
    }

    private func restore(_ call: MethodCall) throws {
        let (name, path, domains, isDry) = try call.arguments {
            try Contract.Restore.readArguments(from: &$0)
        }
        guard name.isEmpty || path.isEmpty else { throw ContractError.backupTwice }
        guard path.isEmpty || path.hasPrefix("/") else { throw ContractError(relativeBackup: path) }
        var restoration = Restoration(
            source: path.isEmpty ? .backup(name) : .file(path), origin: noted(call).origin)
        restoration.domains = Set(try domains.map { try names.domain($0) })
        restoration.isDry = isDry
        settings.request(
            .restoration(restoration) { [self] outcome in
                call.answer(with: outcome) { try write($1, to: &$0) }
            })
    }

    private func write(_ report: RestorationReport, to reply: inout MessageWriter) throws {
        let changes = report.parts.lazy.map {
            (
                domain: $0.domain.spelling(on: self.hosts), set: $0.set.map(\.name),
                removed: $0.removed.map(\.name), locked: $0.locked
            )
        }
        try Contract.Restore.writeReply(report.counts, changes, to: &reply)
    }
}

extension RestorationReport {
    fileprivate var counts: RestoredCounts {
        RestoredCounts(
            undo: undo?.name ?? "", set: set, removed: removed, damaged: damaged, locked: locked)
    }
}

extension MethodCall {
    /// Replies with the result.
    fileprivate func answer<Success>(
        with outcome: Result<Success, any Error>,
        _ write: (inout MessageWriter, Success) throws -> Void
    ) {
        switch outcome {
        // If the reply cannot be sent, the caller has got an error instead, or has left.
        case .success(let success): try? reply { try write(&$0, success) }
        case .failure(let error): fail(error)
        }
    }
}

/// Statistics about writers and sizes.
extension BusFace {
    /// The most of a domain's largest values that are reported, and the most quotas.
    private static let mostLargest = 1000

    private func findWriter(_ call: MethodCall) throws {
        let generation = try call.arguments { try Contract.FindWriter.readArguments(from: &$0) }
        let writer = settings.writers.writer(of: generation)
        try call.reply {
            try Contract.FindWriter.writeReply(
                (writer?.executable ?? "", writer?.process ?? 0), to: &$0)
        }
    }

    private func listWriters(_ call: MethodCall) throws {
        try call.reply {
            try Contract.ListWriters.writeReply(
                settings.writers.counts.lazy.map { (executable: $0.key, changes: $0.value) },
                to: &$0)
        }
    }

    private func listQuotas(_ call: MethodCall) throws {
        let percentage = try call.arguments { try Contract.ListQuotas.readArguments(from: &$0) }
        let report = settings.quotas.report
        let isLong = try store.view.mayHaveMoreDomains(than: Lanes.fewKeys)
        try answer(call, isLong: isLong) {
            try $0.writeQuotas(
                atMost: Self.mostLargest, from: percentage, of: report, to: &$1)
        }
    }

    private func measureDomain(_ call: MethodCall) throws {
        let (domain, limit) = try call.arguments {
            try Contract.MeasureDomain.readArguments(from: &$0, by: names)
        }
        let count = min(Int(clamping: limit), Self.mostLargest)
        let isLong = try replySize(of: domain, in: store.view).isLong
        try answer(call, isLong: isLong) { try $0.writeSizes(of: domain, largest: count, to: &$1) }
    }
}

/// Information about the layers that are made from files.
extension BusFace {
    private func listLayerFiles(_ call: MethodCall) throws {
        let known = layers.domains.sorted().flatMap { domain in
            let known = layers[domain]
            return (known?.files ?? []).map { file -> Contract.ListLayerFiles.Row in
                (
                    domain.layer.name.rawValue, domain.name, file.path.description,
                    known?.problems[file.path]?.description ?? ""
                )
            }
        }
        let others = layers.problems.sorted { $0.path < $1.path }
            .map { problem -> Contract.ListLayerFiles.Row in
                ("", "", problem.path, problem.description)
            }
        try call.reply { try Contract.ListLayerFiles.writeReply(known + others, to: &$0) }
    }

    private func listLocks(_ call: MethodCall) throws {
        let domain = try call.arguments {
            try Contract.ListLocks.readArguments(from: &$0, by: ApplicationNames())
        }
        let locks = try SearchList(of: domain, on: hosts.this.id).places
            .filter { $0.domain.layer == .managed }
            .flatMap { try settings.locks.locks(of: $0.domain) }
        try call.reply { try Contract.ListLocks.writeReply(locks, to: &$0) }
    }
}
