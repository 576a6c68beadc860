import ArgumentParser

/// `defaultsctl roam`: the same defaults on all machines of a user.
struct RoamCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roam",
        abstract: "Keeps defaults the same on all of your machines.",
        discussion: """
              defaultsctl roam enable --directory ~/Sync/defaults
              defaultsctl roam add org.example.Editor --except 'Window*'

            The machines meet in a directory that something else keeps the same on all of them, such \
            as Syncthing or Nextcloud, or on a PostgreSQL server. They may be offline for as long \
            as they like. Only the domains and keys that roam leave a machine; what roams is \
            chosen with add and drop, and the choice itself roams. If two machines change a key \
            without knowing of each other, the later change stands, and the other is kept: see \
            conflicts.
            """,
        subcommands: [
            RoamStatusCommand.self, RoamEnable.self, RoamDisable.self, RoamDomains.self,
            RoamAdd.self,
            RoamDrop.self, RoamConflicts.self, RoamMachines.self, RoamForget.self, RoamNow.self,
            RoamPause.self, RoamResume.self, RoamPassphrase.self,
        ])
}
