import Testing

@testable import DefaultsClient

struct BroadcastTests {
    @Test func `An element that arrives while a listener starts is not missed`() async {
        let broadcast = Broadcast<String>()
        let elements = broadcast.stream {
            broadcast.tell("second")
            return "first"
        }
        var heard: Set<String> = []
        for await element in elements where heard.insert(element).inserted && heard.count == 2 {
            break
        }
        #expect(heard == ["first", "second"])
    }
}
