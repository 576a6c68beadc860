import Synchronization

@testable import DefaultsCore
@testable import DefaultsModel
@testable import DefaultsService
@testable import KeyedArchive

extension RunningService {
    /// Makes a change that comes while something on the loop waits for nothing, such as an answer.
    ///
    /// - Parameters:
    ///   - json: The value.
    ///   - name: The name of the connection by which it comes.
    /// - Returns: Makes the change, the first time that it is called. It must be called on the loop.
    func change(
        _ domain: String, _ key: String, to json: String, by name: String
    ) -> @Sendable () -> Void {
        let change = OneChange(of: service, domain, key, json, name)
        return { change.make() }
    }
}

/// A change that is made once.
private final class OneChange: Sendable {
    private let service: Service
    private let (domain, key, json, name): (String, String, String, String)
    private let isMade = Atomic(false)

    init(of service: Service, _ domain: String, _ key: String, _ json: String, _ name: String) {
        self.service = service
        (self.domain, self.key, self.json, self.name) = (domain, key, json, name)
    }

    func make() {
        guard !isMade.exchange(true, ordering: .relaxed) else { return }
        service.assumeIsolated { service in
            let settings = service.settings
            let caller = Caller(
                access: .full, program: TestCaller.program(named: name), origin: name
            ) { nil }
            do {
                try settings.set(
                    Domain(domain, on: settings.store.hosts), Key(key),
                    to: KeyedArchive(json: json), by: caller
                ) { _ in }
            } catch {
                preconditionFailure("The change of a test was refused: \(error)")
            }
        }
    }
}
