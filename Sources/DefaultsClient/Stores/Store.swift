import DBus
import DefaultsTerms
import Dispatch
import Synchronization

/// What an application reads and writes of one domain: the search list over copies and its own layers.
///
/// There is one for each domain of a service, shared by all of the process.
@usableFromInline
final class Store: Sendable {
    private struct State {
        var found = KnownKeys()
        var observers: [Observer] = []
    }

    let service: any Service
    let own: DomainCopy
    /// The domain of all applications; nil if that is the domain itself.
    let global: DomainCopy?
    let lock: ServiceLock
    private let searchList: [SearchStep]
    private let arguments: [KeyName: Entry]
    private let state = Guarded(State())
    /// The turns of tasks that update values: they would be conflicts for each other.
    let updates = Turns()
    /// The values that were read last, under a lock of its own, which is taken after the service's if
    /// both are.
    private let hot = Mutex(HotValues())
    /// Increased whenever something may be found that was not found before.
    let revision = Atomic<UInt64>(0)
    let failures = Failures()

    init(
        _ own: DomainCopy, _ global: DomainCopy?, of service: any Service, arguments: [String],
        _ access: borrowing WriteAccess
    ) {
        self.service = service
        self.own = own
        self.global = global
        lock = service.lock
        searchList = SearchStep.searchList(of: own, global)
        self.arguments = ArgumentDomain(arguments).entries
        own.add(self, access)
        global?.add(self, access)
    }

    var name: String { own.name }

    /// Whether what was found is still valid.
    func isCurrent(_ access: borrowing ReadAccess) -> Bool {
        guard access[own.state].isCurrent else { return false }
        guard let global else { return true }
        return access[global.state].isCurrent
    }

    var copies: [DomainCopy] { [own] + (global.map { [$0] } ?? []) }

    // MARK: Looking

    /// The decoded value of a key, if nothing has changed since it was read last.
    @usableFromInline
    func held(_ key: AnyDefaultsKey) -> AnyDecoded? {
        guard !Fork.isChild else { return nil }
        return hot.withLock { $0.value(of: key) } ?? warm(key)
    }

    /// The decoded value of a key, if there is one.
    ///
    /// The next read of the key is fast.
    private func warm(_ key: AnyDefaultsKey) -> AnyDecoded? {
        lock.read { access in
            guard isCurrent(access), let found = access[state].found[key.id],
                let value = found.entry == nil ? key.keptDefault : found.entry?.decoded,
                ObjectIdentifier(type(of: value)) == key.holder
            else { return nil }
            hot.withLock { $0.put(value, for: key, own: own, global, access) }
            return value
        }
    }

    /// The value of a key, as current as possible.
    func find(_ name: KeyName) -> Found {
        let found = lock.change { access -> Found? in
            isCurrent(access.read) ? look(name, access) : nil
        }
        if let found { return found }
        service.makeCurrent(copies)
        return lock.change { access in look(name, access) }
    }

    /// Searches for a key, and remembers what was found.
    private func look(_ name: KeyName, _ access: borrowing WriteAccess) -> Found {
        if let found = access[state].found[name] { return found }
        let new = search(name, access.read)
        access[state].found.put(new, for: name)
        return new
    }

    private func search(_ name: KeyName, _ access: borrowing ReadAccess) -> Found {
        for step in searchList {
            switch step {
            case .copy(let copy, let layer):
                guard let entry = access[copy.state].entry(name, in: layer) else { continue }
                return Found(
                    entry: entry, layer: layerName(of: layer, in: copy),
                    spelling: layer.spelling(of: copy.name))
            case .arguments:
                if let entry = arguments[name] { return Found(entry: entry, layer: .arguments) }
            case .registered:
                if let entry = access[own.state].registered[name] {
                    return Found(entry: entry, layer: .registered)
                }
            }
        }
        return Found()
    }

    /// The name of a copy's layer in the search list.
    private func layerName(of layer: LayerName, in copy: DomainCopy) -> DefaultsLayer {
        DefaultsLayer(SearchPlace(layer, isGlobal: copy === global))
    }

    /// The copy and its layer that have a layer of the search list; nil for one that cannot be written.
    func place(of layer: DefaultsLayer) -> (copy: DomainCopy, layer: LayerName)? {
        switch layer {
        case .domain: (own, .domain)
        case .host: (own, .host)
        case .global: (global ?? own, .domain)
        case .globalHost: (global ?? own, .host)
        default: nil
        }
    }

    /// Makes the copies current, and waits for that for a short time.
    func makeCurrentIfNeeded() {
        if !lock.read({ isCurrent($0) }) { service.makeCurrent(copies) }
    }

    /// Whether the caller is the service's own thread, which must not wait for an answer.
    var isOnServiceThread: Bool { service.loop?.isCurrent == true }

    /// Makes the copies current, and blocks no thread of the caller's.
    func load() async {
        guard !Fork.isChild, !lock.read({ isCurrent($0) }) else { return }
        await withCheckedContinuation { continuation in
            // Waiting takes a thread, but none of those that run tasks.
            DispatchQueue.global().async {
                self.makeCurrentIfNeeded()
                continuation.resume()
            }
        }
    }

    /// The value of a key in one layer.
    func find(_ name: KeyName, in layer: DefaultsLayer) -> Found {
        makeCurrentIfNeeded()
        return lock.read { access -> Found in
            for step in searchList {
                switch step {
                case .copy(let copy, let copyLayer)
                where layerName(of: copyLayer, in: copy) == layer:
                    let entry = access[copy.state].entry(name, in: copyLayer)
                    return Found(
                        entry: entry, layer: entry.map { _ in layer },
                        spelling: copyLayer.spelling(of: copy.name))
                case .arguments where layer == .arguments:
                    return Found(entry: arguments[name], layer: layer)
                case .registered where layer == .registered:
                    return Found(entry: access[own.state].registered[name], layer: layer)
                default: continue
                }
            }
            return Found()
        }
    }

    /// The keys of a layer, or of all layers but the command line.
    func names(in layer: DefaultsLayer?) -> Set<KeyName> {
        makeCurrentIfNeeded()
        return lock.read { access in
            searchList.reduce(into: []) { names, step in
                switch step {
                case .copy(let copy, let copyLayer):
                    guard layer == nil || layerName(of: copyLayer, in: copy) == layer else {
                        return
                    }
                    names.formUnion(access[copy.state].names(in: copyLayer))
                case .arguments: if layer == .arguments { names.formUnion(arguments.keys) }
                case .registered:
                    if layer == nil || layer == .registered {
                        names.formUnion(access[own.state].registered.keys)
                    }
                }
            }
        }
    }

    // MARK: Registering

    /// Registers values that hold if no other layer has the key.
    func register(_ entries: [KeyName: Entry?]) {
        lock.change { access in own.register(entries, access) }
    }
}

// MARK: Observing

extension Store {
    /// Begins to report changes to an observer.
    ///
    /// This does not wait. If others have changed something that was not read here yet, the copies are
    /// read in the background.
    func begin(_ observer: Observer) {
        guard !Fork.isChild else { return }
        let mustAsk = lock.change { access in
            access[state].observers.append(observer)
            return !isCurrent(access.read)
        }
        if mustAsk { service.prefetch(copies) }
    }

    func remove(_ observer: Observer) {
        lock.change { access in access[state].observers.removeAll { $0 === observer } }
    }
}

extension Store: DomainCopyUser {
    func isObserved(_ access: borrowing ReadAccess) -> Bool {
        !access[state].observers.isEmpty
    }

    func forget(_ names: some Collection<KeyName>, _ access: borrowing WriteAccess) {
        revision.add(1, ordering: .releasing)
        hot.withLock { $0.removeAll() }
        for name in names { access[state].found.remove(name) }
    }

    func observed(
        _ names: some Collection<KeyName>, onlyKnown: Bool, _ access: borrowing WriteAccess
    ) -> [KeyName: Found] {
        let observers = access[state].observers
        guard !observers.isEmpty else { return [:] }
        let seen = names.filter { name in
            observers.contains { $0.observes(name) }
                && (!onlyKnown || access[state].found.mayKnow(name))
        }
        return Dictionary(uniqueKeysWithValues: Set(seen).map { ($0, look($0, access)) })
    }

    func note(
        _ names: some Collection<KeyName>, _ before: [KeyName: Found], by source: ChangeSource,
        _ access: borrowing WriteAccess
    ) {
        forget(names, access)
        for (name, old) in before {
            let new = look(name, access)
            guard !old.entry.isSame(as: new.entry) else { continue }
            let change = SeenChange(name: name, old: old, new: new, source: source)
            for observer in access[state].observers where observer.observes(name) {
                observer.take(change, access)
            }
        }
    }
}

/// What was found of each key, so that it is searched for once.
///
/// The names that have a value are as many as the domain has. The others are as many as the application
/// thinks of, so only some of them are kept.
private struct KnownKeys {
    private static let mostMissing = 4096

    private var found: [KeyName: Found] = [:]
    /// How many of them have no value.
    private var missing = 0
    /// Whether names without a value were dropped.
    private var isPartial = false

    subscript(_ name: KeyName) -> Found? { found[name] }

    /// Whether the application may have asked for a key.
    func mayKnow(_ name: KeyName) -> Bool { isPartial || found[name] != nil }

    mutating func put(_ new: Found, for name: KeyName) {
        remove(name)
        if new.entry == nil {
            if missing >= Self.mostMissing { dropMissing() }
            missing += 1
        }
        found[name] = new
    }

    mutating func remove(_ name: KeyName) {
        if let old = found.removeValue(forKey: name), old.entry == nil { missing -= 1 }
    }

    private mutating func dropMissing() {
        found = found.filter { $0.value.entry != nil }
        (missing, isPartial) = (0, true)
    }
}

/// A place in which a store searches for a key.
enum SearchStep {
    /// A layer of a domain.
    case copy(DomainCopy, LayerName)
    /// The command line.
    case arguments
    /// What the application has registered.
    case registered

    /// The places in which the keys of a domain are searched for, the strongest first.
    ///
    /// - Parameter global: The domain of all applications; nil if that is the domain itself.
    static func searchList(of own: DomainCopy, _ global: DomainCopy?) -> [SearchStep] {
        func steps(_ places: some Sequence<SearchPlace>) -> [SearchStep] {
            places.compactMap { place in
                (place.isGlobal ? global : own).map { .copy($0, place.layer) }
            }
        }
        let prescribed = SearchPlace.allCases.prefix { $0.layer == .managed }
        return steps(prescribed) + [.arguments]
            + steps(SearchPlace.allCases.dropFirst(prescribed.count)) + [.registered]
    }
}
