@testable import DefaultsClient
import Synchronization
import Testing

struct ServiceLockTests {
    private let lock = ServiceLock()
    private let numbers = Guarded<[Int]>([])

    @Test func `A deferred call finds the lock free, and the changes done`() {
        let seen = Mutex<[Int]>([])
        lock.change { access in
            access.whenFree { [lock, numbers] in
                let found = lock.read { $0[numbers] }
                seen.withLock { $0 = found }
            }
            access[numbers].append(1)
            access[numbers].append(2)
        }
        #expect(seen.withLock { $0 } == [1, 2])
    }

    @Test func `Deferred calls are made in order, even those of a deferred change`() {
        lock.change { access in
            for number in 1...2 {
                access.whenFree { [lock, numbers] in
                    lock.change { access in access[numbers].append(number) }
                }
            }
            access.whenFree { [lock, numbers] in
                lock.change { access in
                    access.whenFree {
                        lock.change { access in access[numbers].append(4) }
                    }
                    access[numbers].append(3)
                }
            }
        }
        #expect(lock.read { $0[numbers] } == [1, 2, 3, 4])
    }

    @Test func `Deferred calls are made even after an error`() {
        let isCalled = Atomic(false)
        #expect(throws: CancellationError.self) {
            try lock.change { access in
                access.whenFree { isCalled.store(true, ordering: .relaxed) }
                throw CancellationError()
            }
        }
        let wasCalled = isCalled.load(ordering: .relaxed)
        #expect(wasCalled)
    }

    @Test func `No change by many threads is lost`() async {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask { lock.change { access in access[numbers].append(number) } }
            }
        }
        #expect(lock.read { $0[numbers].sorted() } == Array(0..<100))
    }
}
