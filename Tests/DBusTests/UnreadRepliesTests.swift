import Testing

@testable import DBus

/// What a caller may leave unread, without a bus.
@Suite struct UnreadRepliesTests {
    static let allowance = UnreadReplies.allowance

    /// An account of one that was sent its allowance.
    private static func spent() -> UnreadReplies {
        var replies = UnreadReplies()
        replies.note(allowance)
        return replies
    }

    /// An account of one that has not read for all the time that it was given.
    private static func cutOff() -> UnreadReplies {
        var replies = spent()
        while replies.take(unread: allowance) != .refuse {}
        return replies
    }

    @Test func `A caller is sent its allowance, and then the bus is asked (1)`() {
        var replies = UnreadReplies()
        replies.note(Self.allowance - 1)
        #expect(replies.isOpen)
        replies.note(1)
        #expect(!replies.isOpen)
    }

    @Test func `After reading it has another allowance, less what came after the question (1)`() {
        var replies = Self.spent()
        replies.noteQuestion()
        replies.note(100)
        #expect(!replies.isOpen)
        #expect(replies.take(unread: Self.allowance - 1) == .goOn)
        #expect(replies.isOpen)
        replies.note(Self.allowance - 101)
        #expect(replies.isOpen)
        replies.note(1)
        #expect(!replies.isOpen)
    }

    @Test func `Without reading it is checked less and less often, and then refused (2, 3)`() {
        var replies = Self.spent()
        var delays: [Duration] = []
        while case .askAgain(let delay) = replies.take(unread: Self.allowance) {
            delays.append(delay)
            #expect(!replies.isOpen)
        }
        #expect(delays.starts(with: [10, 20, 40, 80].map(Duration.milliseconds)))
        #expect(delays.max() == .seconds(1))
        let sum = delays.reduce(.zero, +)
        #expect(sum >= UnreadReplies.patience && sum < UnreadReplies.patience + .seconds(1))
        #expect(!replies.isOpen)
    }

    @Test func `A caller that was cut off continues when it has read (3)`() {
        var replies = Self.cutOff()
        #expect(replies.take(unread: Self.allowance) == .refuse)
        replies.noteQuestion()
        #expect(replies.take(unread: 0) == .goOn)
        #expect(replies.isOpen)
        // Its next time starts again.
        replies.note(Self.allowance)
        #expect(replies.take(unread: Self.allowance) == .askAgain(after: .milliseconds(10)))
    }

    @Test func `Only a number of refusals are sent, until the caller has read (3)`() {
        var replies = UnreadReplies()
        let free = (0..<2000).count { _ in replies.takeRefusal() }
        #expect(free == 2000)
        replies = Self.cutOff()
        let sent = (0..<2000).count { _ in replies.takeRefusal() }
        #expect(sent == UnreadReplies.maximumRefusals)
        replies.noteQuestion()
        #expect(replies.take(unread: 0) == .goOn)
        let next = replies.takeRefusal()
        #expect(next)
    }
}
