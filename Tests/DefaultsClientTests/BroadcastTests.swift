import Dispatch
import Testing

@testable import DefaultsClient

struct BroadcastTests {
    @Test func `An element that arrives while a listener starts is not missed, and comes second`()
        async
    {
        let broadcast = Broadcast<String>()
        let elements = broadcast.stream {
            DispatchQueue.global().async { broadcast.tell("second") }
            return "first"
        }
        var heard: [String] = []
        for await element in elements {
            heard.append(element)
            if heard.count == 2 { break }
        }
        #expect(heard == ["first", "second"])
    }
}
