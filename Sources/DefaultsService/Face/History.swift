import DBus
import DefaultsCore
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms

/// Methods of the history.
extension BusFace {
    /// How many bytes of values a reply has at most; the others are left out.
    private static let mostBytesOfValues = 16 << 20

    /// The interface of the history.
    ///
    /// Callers in a sandbox may not use any of its methods: it has what their own program has deleted.
    func historyInterface() -> Interface {
        Interface(
            Contract.historyInterface,
            methods: [
                closedMethod(Contract.ListActions.self) { try $0.listActions($1) },
                closedMethod(Contract.GetAction.self) { try $0.getAction($1) },
                closedMethod(Contract.GetAt.self) { try $0.getAt($1) },
                closedMethod(Contract.Undo.self) { face, call in
                    try face.takeBack(call, isRedo: false) {
                        try Contract.Undo.readArguments(from: &$0)
                    }
                },
                closedMethod(Contract.Redo.self) { face, call in
                    try face.takeBack(call, isRedo: true) {
                        try Contract.Redo.readArguments(from: &$0)
                    }
                },
            ])
    }

    private func listActions(_ call: MethodCall) throws {
        let form = try call.arguments { try Contract.ListActions.readArguments(from: &$0) }
        var filter = ActionFilter()
        if !form.domain.isEmpty { filter.domain = try names.domain(form.domain) }
        if !form.key.isEmpty { filter.key = try names.key(form.key) }
        guard filter.key == nil || filter.domain != nil else {
            throw ContractError(
                .invalidArguments, "The filter names a key without a domain. Name both.")
        }
        (filter.program, filter.since, filter.until) = (form.program, form.since, form.until)
        if form.before != 0 { filter.before = form.before }
        filter.limit = Int(form.limit)
        answer(call) { [filter] in
            try await $0.settings.actions(filter)
        } writing: { face, reply, writer in
            try Contract.ListActions.writeReply(
                reply.actions.lazy.map { face.form(of: $0) }, knownFrom: reply.knownSince,
                to: &writer)
        }
    }

    private func getAction(_ call: MethodCall) throws {
        let number = try call.arguments { try Contract.GetAction.readArguments(from: &$0) }
        answer(call) {
            try await $0.settings.action(number)
        } writing: { face, reply, writer in
            var room = Self.mostBytesOfValues
            let changes = reply.1.map { change in
                HistoryChangeForm(
                    domain: change.domain.spelling(on: face.hosts), key: change.key.name,
                    first: change.first.rawValue, last: change.last.rawValue,
                    was: HistoryValueForm(change.was, room: &room),
                    became: HistoryValueForm(change.became, room: &room),
                    standing: change.standing.rawValue)
            }
            try Contract.GetAction.writeReply((face.form(of: reply.0), changes), to: &writer)
        }
    }

    private func getAt(_ call: MethodCall) throws {
        let (domain, keys, number, time) = try call.arguments {
            try Contract.GetAt.readArguments(from: &$0, by: names)
        }
        let generation = Generation(rawValue: number)
        answer(call) {
            try await $0.settings.values(of: keys, in: domain, at: generation, time: time)
        } writing: { _, reply, writer in
            var room = Self.mostBytesOfValues
            let values = reply.values.map {
                (key: $0.key.name, value: HistoryValueForm($0.value, room: &room))
            }
            try NamesSize.check(values.map(\.key), room: Self.mostBytesOfValues)
            try Contract.GetAt.writeReply(
                (reply.generation?.rawValue ?? 0, time, reply.isComplete, values), to: &writer)
        }
    }

    private func takeBack(
        _ call: MethodCall, isRedo: Bool,
        _ read: (inout MessageReader) throws -> TakingBackArguments
    ) throws {
        let form = try call.arguments(read)
        guard form.key.isEmpty || !form.domain.isEmpty else {
            throw ContractError(
                .invalidArguments, "The options name a key without a domain. Name both.")
        }
        let request = TakingBackRequest(
            actions: form.actions,
            domain: form.domain.isEmpty ? nil : try names.domain(form.domain),
            key: form.key.isEmpty ? nil : try names.key(form.key), isRedo: isRedo)
        var options = Settings.TakingBackOptions()
        options.isPartial = form.isPartial
        options.isForced = form.isForced
        options.isDry = form.isDry
        options.isDurable = form.isDurable
        // The caller stays on this thread.
        nonisolated(unsafe) let caller = noted(call)
        answer(call) { [options] in
            try await $0.settings.takeBack(request, by: caller, options)
        } writing: { face, reply, writer in
            var room = Self.mostBytesOfValues
            let changes = reply.items.map { item in
                TakenBackForm(
                    domain: item.domain.spelling(on: face.hosts), key: item.key.name,
                    now: HistoryValueForm(item.now, room: &room),
                    target: HistoryValueForm(KnownValue(known: item.target), room: &room),
                    standing: item.standing.rawValue)
            }
            try Contract.Undo.writeReply((reply.generation?.rawValue ?? 0, changes), to: &writer)
        }
    }

    /// Answers a call when its work, which waits for the disk, is done.
    private func answer<Reply: Sendable>(
        _ call: MethodCall,
        _ work: @escaping @Sendable (isolated Service) async throws -> Reply,
        writing write: @escaping @Sendable (BusFace, Reply, inout MessageWriter) throws -> Void
    ) {
        // The call stays on this thread.
        nonisolated(unsafe) let call = call
        start { service in
            do {
                let reply = try await work(service)
                try call.reply { try write(service.face, reply, &$0) }
            } catch let error as StorageError where error.isDamage {
                service.settings.store.requestRepair(because: error.description)
                call.fail(error)
            } catch {
                if !call.isAnswered { call.fail(service.face.refusal(for: error, of: call)) }
            }
        }
    }

    private func form(of action: ActionSummary) -> HistoryActionForm {
        HistoryActionForm(
            number: action.number, first: action.first.rawValue, last: action.last.rawValue,
            began: action.began, ended: action.ended, program: action.author.program,
            application: action.author.application, machine: action.author.machine,
            owner: action.author.owner, kind: action.kind.rawValue, references: action.references,
            keys: UInt32(clamping: action.keys), known: UInt32(clamping: action.known),
            isUndone: action.isUndone, isByHand: settings.history.isByHand(action),
            note: action.note)
    }
}

extension HistoryValueForm {
    /// - Parameter room: How many bytes of values the reply may still have.
    fileprivate init(_ value: KnownValue, room: inout Int) {
        switch value {
        case .absent: self.init(nil)
        case .unknown: self = .unknown
        case .present(let archive):
            guard archive.count <= room else {
                self = .omitted
                return
            }
            room -= archive.count
            self.init(archive)
        }
    }
}
