import DefaultsModel
import Glibc
import TestTiers
import Testing

@testable import DefaultsStorage

@Suite(.startsPrograms) struct DurableWriterTests {
    @Test("The writer runs on one thread of its own, with every signal blocked")
    func thread() async throws {
        let scratch = try Scratch()
        let writer = try scratch.open().makeWriter()
        var threads: Set<pthread_t> = []
        for _ in 0..<10 {
            let (thread, blocked) = await writer.onItsThread {
                var mask = sigset_t()
                pthread_sigmask(SIG_SETMASK, nil, &mask)
                return (pthread_self(), sigismember(&mask, SIGTERM) == 1)
            }
            #expect(blocked)
            threads.insert(thread)
        }
        #expect(threads.count == 1)
        #expect(!threads.contains(pthread_self()))
    }

    @Test("Batches are written in the order in which they were given")
    func order() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        let writer = try database.makeWriter()
        for number in 0..<50 {
            let change = try database.set(["key": [UInt8(number)]])
            try await database.flush(by: writer)
            #expect(database.durableGeneration == change.generation)
        }
        await writer.close()
        database.close()
        #expect(try scratch.query("SELECT archive FROM entries") == "[(b'1',)]")
    }
}

extension DurableWriter {
    fileprivate func onItsThread<Result: Sendable>(
        _ body: @Sendable () -> Result
    ) -> Result {
        body()
    }
}
