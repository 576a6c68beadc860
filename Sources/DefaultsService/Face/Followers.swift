import DefaultsCore
import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsTerms

/// The programs that are connected without a bus and follow domains.
///
/// Invariants:
/// 1. A change is sent to those who follow its domain, except its writer, whose reply says it.
/// 2. A process follows at most ``ContractLimits/maximumFollowedDomains``, over all its connections: each takes
///    up memory, and time when the connection ends.
/// 3. A program that does not read gets no more signals. When it has read, it gets one for each
///    layer of a domain that has changed meanwhile, without names.
final class Followers {
    /// A program, and what it follows.
    final class Follower {
        fileprivate let connection: Connection
        fileprivate let process: UInt32?
        fileprivate var domains: Set<String> = []
        /// Whether its signals have values.
        fileprivate var getsValues = true
        /// The changes that were not sent because the program did not read.
        fileprivate var missed: [Domain: Generation] = [:]

        fileprivate init(_ connection: Connection, of process: UInt32?) {
            self.connection = connection
            self.process = process
        }
    }

    private var followers: [ObjectIdentifier: Follower] = [:]
    private var byDomain: [String: [ObjectIdentifier: Follower]] = [:]
    /// How many domains each process follows; the unknown ones together.
    private var counts: [UInt32?: Int] = [:]

    /// Has a program follow domains until it has gone.
    ///
    /// - Parameters:
    ///   - process: The number of its process; nil if it is not known.
    ///   - getsValues: Whether its signals have values from now on.
    /// - Throws: `ContractError` if it, or its process, follows too many.
    func add(
        _ names: [String], for connection: Connection, of process: UInt32?,
        gettingValues getsValues: Bool
    ) throws {
        let number = ObjectIdentifier(connection)
        let isNew = followers[number] == nil
        let follower = followers[number] ?? Follower(connection, of: process)
        let all = follower.domains.union(names)
        guard all.count <= ContractLimits.maximumAttachedDomains else {
            throw ContractError.tooManyDomains
        }
        let added = all.count - follower.domains.count
        let count = counts[follower.process, default: 0] + added
        guard added == 0 || count <= ContractLimits.maximumFollowedDomains else {
            throw ContractError.tooManyFollowed
        }
        counts[follower.process] = count
        follower.domains = all
        follower.getsValues = getsValues
        followers[number] = follower
        for name in names { byDomain[name, default: [:]][number] = follower }
        if isNew, !names.isEmpty { forget(number, atEndOf: connection) }
    }

    private func forget(_ number: ObjectIdentifier, atEndOf connection: Connection) {
        // The end is noted on this thread.
        nonisolated(unsafe) weak let followers = self
        connection.assumeIsolated { $0.onDisconnect { followers?.forget(number) } }
    }

    /// Has a program follow domains no more.
    func remove(_ names: some Collection<String>, of number: ObjectIdentifier) {
        guard let follower = followers[number] else { return }
        for name in names {
            byDomain[name]?[number] = nil
            if byDomain[name]?.isEmpty == true { byDomain[name] = nil }
        }
        let before = follower.domains.count
        follower.domains.subtract(names)
        count(follower.domains.count - before, for: follower.process)
        follower.missed = follower.missed.filter { follower.domains.contains($0.key.name) }
        if follower.domains.isEmpty { followers[number] = nil }
    }

    private func count(_ difference: Int, for process: UInt32?) {
        let count = counts[process, default: 0] + difference
        counts[process] = count > 0 ? count : nil
    }

    /// Forgets a program that has gone.
    func forget(_ number: ObjectIdentifier) {
        guard let follower = followers[number] else { return }
        remove(follower.domains, of: number)
    }

    /// Sends a change.
    ///
    /// - Returns: The programs that did not read, if this is the first signal that they miss.
    func send(_ announcement: Announcement) -> [Follower] {
        guard let followers = byDomain[announcement.domain.name] else { return [] }
        return followers.values.filter { follower in
            // The only program of a daemon has no name, and files have none.
            (follower.connection.peerName != announcement.origin || announcement.origin.isEmpty)
                && !send(announcement, to: follower)
        }
    }

    /// - Returns: False if this is the first signal that the program misses.
    private func send(_ announcement: Announcement, to follower: Follower) -> Bool {
        let isFirst = follower.missed.isEmpty
        let getsValues = follower.getsValues
        let isSent = follower.connection.assumeIsolated { connection in
            guard isFirst, !connection.isPeerSlow else { return false }
            announcement.emit(withValues: getsValues, on: connection)
            return true
        }
        if !isSent { follower.missed[announcement.domain] = announcement.generation }
        return isSent || !isFirst
    }
}

extension Followers {
    /// Sends what a program has missed.
    func sendMissed(to follower: Follower) {
        let getsValues = follower.getsValues
        for announcement in follower.takeMissed() {
            follower.connection.assumeIsolated {
                announcement.emit(withValues: getsValues, on: $0)
            }
        }
    }
}

extension Followers.Follower {
    /// Waits until the program has read what was sent to it.
    nonisolated(nonsending) func flush() async { await connection.flush() }

    fileprivate func takeMissed() -> [Announcement] {
        defer { missed = [:] }
        return missed.sorted { $0.value < $1.value }
            .map { Announcement(of: $0.key, at: $0.value) }
    }
}

extension Announcement {
    /// Sends the signal in the form that a program has asked for.
    ///
    /// It cannot be sent if the program has gone.
    fileprivate func emit(withValues: Bool, on connection: isolated Connection) {
        if withValues {
            try? connection.emit(signalWithValues)
        } else {
            try? connection.emit(signal)
        }
    }
}
