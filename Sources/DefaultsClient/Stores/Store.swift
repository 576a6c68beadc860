import DefaultsTerms
import Synchronization

/// What an application reads and writes of one domain: the search list over copies and its own layers.
///
/// There is one for each domain of a service, whoever asks for it. Everything that changes is used
/// under the service's lock (`@unchecked Sendable`).
@usableFromInline
final class Store: @unchecked Sendable {
    let service: any Service
    let own: DomainCopy
    /// The domain of all applications; nil where that is the domain itself.
    let global: DomainCopy?
    let lock: Guard
    private let searchList: [SearchStep]

    /// What was found, so that it is looked for once.
    private var found: [KeyName: Found] = [:]
    private var arguments: [KeyName: Entry]
    private var observers: [Observer] = []
    /// The turns of tasks that update values: they would be conflicts for each other.
    let updates = Turns()
    /// What of it was read last; under a lock of its own.
    private let hot = Mutex(HotValues())
    /// Those who are told of what went wrong.
    let failures = Failures()

    init(_ own: DomainCopy, _ global: DomainCopy?, of service: any Service, arguments: [String]) {
        self.service = service
        self.own = own
        self.global = global
        lock = service.lock
        searchList = SearchStep.searchList(of: own, global)
        self.arguments = ArgumentDomain(arguments).entries
        own.add(self)
        global?.add(self)
    }

    var name: String { own.name }

    /// Whether what was found holds still.
    private var isCurrent: Bool { own.isCurrent && global?.isCurrent != false }

    var copies: [DomainCopy] { [own] + (global.map { [$0] } ?? []) }

    // MARK: Looking

    /// The decoded value of a key, if it is at hand: nothing has changed since it was read last.
    @usableFromInline
    func held(_ key: DefaultsKeys) -> AnyDecoded? {
        guard !Fork.isChild else { return nil }
        return hot.withLock { $0.value(of: key) } ?? warm(key)
    }

    /// The decoded value of a key, if there is one, from now on among those that are read fast.
    private func warm(_ key: DefaultsKeys) -> AnyDecoded? {
        lock.reading {
            guard isCurrent, let found = found[key.id],
                let value = found.entry == nil ? key.fallback : found.entry?.decoded,
                ObjectIdentifier(type(of: value)) == key.holder
            else { return nil }
            hot.withLock { $0.put(value, for: key, own: own, global) }
            return value
        }
    }

    /// What holds for a key, as current as the service can be reached.
    func find(_ name: KeyName) -> Found {
        if let found = lock.reading({ isCurrent ? look(name) : nil }) { return found }
        service.makeCurrent(copies)
        return lock.reading { look(name) }
    }

    /// Looks for a key; under the lock.
    private func look(_ name: KeyName) -> Found {
        if let found = found[name] { return found }
        let new = search(name)
        found[name] = new
        return new
    }

    private func search(_ name: KeyName) -> Found {
        for step in searchList {
            switch step {
            case .copy(let copy, let layer):
                guard let entry = copy.entry(name, in: layer) else { continue }
                return Found(
                    entry: entry, layer: layerName(of: layer, in: copy),
                    spelling: layer.spelling(of: copy.name))
            case .arguments:
                if let entry = arguments[name] { return Found(entry: entry, layer: .arguments) }
            case .registered:
                if let entry = own.registered[name] {
                    return Found(entry: entry, layer: .registered)
                }
            }
        }
        return Found()
    }

    /// A layer of a copy as the search list calls it.
    private func layerName(of layer: LayerName, in copy: DomainCopy) -> DefaultsLayer {
        DefaultsLayer(SearchPlace(layer, isGlobal: copy === global))
    }

    /// The copy and the layer that changes of a layer go to; nil for one that cannot be written.
    func place(of layer: DefaultsLayer) -> (copy: DomainCopy, layer: LayerName)? {
        switch layer {
        case .domain: (own, .domain)
        case .host: (own, .host)
        case .global: (global ?? own, .domain)
        case .globalHost: (global ?? own, .host)
        default: nil
        }
    }

    /// What one layer has for a key.
    func find(_ name: KeyName, in layer: DefaultsLayer) -> Found {
        if !lock.reading({ isCurrent }) { service.makeCurrent(copies) }
        return lock.reading {
            for step in searchList {
                switch step {
                case .copy(let copy, let copyLayer)
                where layerName(of: copyLayer, in: copy) == layer:
                    let entry = copy.entry(name, in: copyLayer)
                    return Found(
                        entry: entry, layer: entry.map { _ in layer },
                        spelling: copyLayer.spelling(of: copy.name))
                case .arguments where layer == .arguments:
                    return Found(entry: arguments[name], layer: layer)
                case .registered where layer == .registered:
                    return Found(entry: own.registered[name], layer: layer)
                default: continue
                }
            }
            return Found()
        }
    }

    /// The keys that a layer has, or all that any layer has.
    func names(in layer: DefaultsLayer?) -> Set<KeyName> {
        if !lock.reading({ isCurrent }) { service.makeCurrent(copies) }
        return lock.reading {
            searchList.reduce(into: []) { names, step in
                switch step {
                case .copy(let copy, let copyLayer):
                    guard layer == nil || layerName(of: copyLayer, in: copy) == layer else {
                        return
                    }
                    names.formUnion(copy.names(in: copyLayer))
                case .arguments: if layer == .arguments { names.formUnion(arguments.keys) }
                case .registered:
                    if layer == nil || layer == .registered { names.formUnion(own.registered.keys) }
                }
            }
        }
    }

    // MARK: Registering

    /// Gives keys a value for the case that no other layer has one.
    func register(_ entries: [KeyName: Entry?]) {
        lock.withLock {
            own.change(entries.keys, isOwn: true) {
                for (name, entry) in entries { own.registered[name] = entry }
            }
        }
    }
}

// MARK: Observing

extension Store {
    var isObserved: Bool { !observers.isEmpty }

    /// Begins to tell an observer of changes.
    ///
    /// Not under the lock.
    ///
    /// What is held then is as current as can be, or the observer would be told of older changes.
    func begin(_ observer: Observer) {
        guard !Fork.isChild else { return }
        service.makeCurrent(copies)
        lock.reading { observers.append(observer) }
    }

    func remove(_ observer: Observer) {
        observers.removeAll { $0 === observer }
    }

    /// Looks anew for keys whose values are the same, though not where they were; under the lock.
    func forget(_ names: some Collection<KeyName>) {
        hot.withLock { $0.removeAll() }
        for name in names { found[name] = nil }
    }

    /// What observers have seen of some keys, before a change of them; under the lock.
    func held(_ names: some Collection<KeyName>) -> [KeyName: Found] {
        guard isObserved else { return [:] }
        let seen = names.filter { name in observers.contains { $0.observes(name) } }
        return Dictionary(uniqueKeysWithValues: Set(seen).map { ($0, look($0)) })
    }

    /// Looks anew for keys that have changed, and tells the observers; under the lock.
    func note(_ names: some Collection<KeyName>, _ before: [KeyName: Found], isOwn: Bool) {
        forget(names)
        for (name, old) in before {
            let new = look(name)
            guard !old.entry.isSame(as: new.entry) else { continue }
            let change = SeenChange(name: name, old: old, new: new, isOwn: isOwn)
            for observer in observers where observer.observes(name) {
                observer.take(change, lock)
            }
        }
    }
}

/// A place in which a store looks for a key.
enum SearchStep {
    /// A layer of a domain.
    case copy(DomainCopy, LayerName)
    /// The command line.
    case arguments
    /// What the application has registered.
    case registered

    /// The places in which an application's domain is looked for, the strongest first.
    ///
    /// - Parameter global: The domain of all applications; nil where that is the domain itself.
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

/// What holds for a key.
struct Found {
    /// The value; nil where no layer has one.
    var entry: Entry?
    /// The layer that has it.
    var layer: DefaultsLayer?
    /// The domain, with its suffix, in which the service has it.
    var spelling: String?
}
