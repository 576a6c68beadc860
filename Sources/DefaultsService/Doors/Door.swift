import DBus
import DefaultsCore
import DefaultsFiles
import DefaultsModel
import DefaultsStorage

/// A way by which programs of a desktop that do not know defaultsd reach the settings.
///
/// It is a service of that desktop: a name on the bus with objects of its own, whose calls read and change
/// settings as those of the contract do. All of it is in one folder, and one line of ``Doors`` says that there
/// is one.
protocol Door: AnyObject, SendableMetatype {
    /// The word for it in the daemon's options, and the name of the file that says that the user has adopted
    /// it.
    static var name: String { get }
    /// Whom it serves, for the help of the daemon, after its name.
    static var summary: String { get }
    /// The name on the bus that programs call.
    static var busName: BusName { get }
    /// Its signals, as match rules see them.
    static var signals: SignalAddress { get }

    /// Its objects.
    ///
    /// - Parameter method: Makes a method that is answered by ``answer(_:)``, or by another daemon.
    static func interfaces(
        _ method: (DoorMethod) -> Method
    ) -> [(path: ObjectPath, interface: Interface)]

    /// Adds its files to those that layers are made from.
    static func addLayers(to places: inout LayerPlaces)

    /// The directories of its own files; nil if it cannot be served here.
    ///
    /// - Parameter database: Where the database is.
    static func directories(beside database: DatabaseLocation) -> DoorDirectories?

    /// Opens it; nil if it cannot be served here.
    ///
    /// - Parameter database: Where the database is.
    init?(on face: BusFace, beside database: DatabaseLocation)

    /// The signals that it has for changes of keys; nil if it has none.
    var keySignals: KeySignals? { get }

    /// Answers a call, or keeps it and replies later.
    func answer(_ call: MethodCall) throws

    /// What a caller gets in place of an error, whenever it comes.
    func refusal(for error: any Error) -> any Error

    /// Begins its own work, after its objects are there.
    nonisolated(nonsending) func begin() async

    /// Hears of changes that readers see.
    ///
    /// - Parameter maker: Who has made them: the door itself, if they are its own.
    func changed(_ announcements: [Announcement], by maker: ObjectIdentifier?)

    /// Waits until its programs see all changes up to now, or cannot.
    nonisolated(nonsending) func published() async

    /// Gives up what is quickly made again.
    func freeMemory()

    /// Does nothing more.
    func end()
}

/// A method of a door: its name and its arguments.
struct DoorMethod {
    let name: MemberName
    let input: [Argument]
    let output: [Argument]

    init(_ name: MemberName, in input: [Argument] = [], out output: [Argument] = []) {
        self.name = name
        self.input = input
        self.output = output
    }
}

/// The directories that a door uses.
struct DoorDirectories: Equatable {
    /// Those whose files it changes.
    var own: [String] = []
    /// Those whose files it reads.
    var read: [String] = []
}

/// What most doors do not need.
extension Door {
    static func addLayers(to places: inout LayerPlaces) {}
    static func directories(beside database: DatabaseLocation) -> DoorDirectories? { .init() }
    var keySignals: KeySignals? { nil }
    func refusal(for error: any Error) -> any Error { error }
    nonisolated(nonsending) func begin() async {}
    func changed(_ announcements: [Announcement], by maker: ObjectIdentifier?) {}
    nonisolated(nonsending) func published() async {}
    func freeMemory() {}
    func end() {}
}

/// The layers that programs of desktops see.
extension BusFace {
    /// The layers of a domain, the strongest first.
    ///
    /// The global domain has no part in it: desktops do not know it.
    func layersOfDesktop(_ name: String) throws -> [Domain] {
        try [.managed, .host(hosts.this.id), .domain, .system].map {
            try Domain(name: name, layer: $0)
        }
    }

    /// The layer in which a program changes a key: that of this machine if it has the key, as programs see
    /// its value, and otherwise that of all machines.
    func layerOfChange(_ key: Key, in name: String) throws -> Domain {
        let own = try Domain(name: name, layer: .host(hosts.this.id))
        return try store.view.generation(own, key) != nil ? own : Domain(name: name, layer: .domain)
    }
}

/// All doors that this program has.
package enum Doors {
    static var all: [any Door.Type] { [XfconfDoor.self, DconfDoor.self, PortalDoor.self] }

    /// The words for them.
    package static var names: [String] { all.map { $0.name } }

    /// The words for them, and whom each serves.
    package static var summaries: [(name: String, summary: String)] {
        all.map { ($0.name, $0.summary) }
    }

    /// The doors with these names, in the order of ``all``.
    static func named(_ names: Set<String>) -> [any Door.Type] {
        all.filter { names.contains($0.name) }
    }
}
