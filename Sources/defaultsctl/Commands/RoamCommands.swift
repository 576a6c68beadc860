import ArgumentParser

/// `defaultsctl roam`: the same defaults on all machines of a user.
struct RoamCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roam",
        abstract: "Keeps defaults the same on all of your machines.",
        discussion: """
              defaultsctl roam enable --directory ~/Sync/defaults
              defaultsctl roam add org.example.Editor --except 'Window*'

            The machines meet in a directory that another program, such as Syncthing or Nextcloud, \
            keeps the same on all of them, or on a PostgreSQL server. They may be offline for as \
            long as they like. Nothing leaves a machine before you choose it with 'add'. The choice \
            itself roams, too. If two machines change a key without knowing of each other, the later \
            change wins, and the other value is kept: see 'conflicts'.
            """,
        subcommands: [
            RoamStatusCommand.self, RoamEnable.self, RoamDisable.self, RoamDomains.self,
            RoamAdd.self,
            RoamDrop.self, RoamConflicts.self, RoamMachines.self, RoamForget.self, RoamNow.self,
            RoamPause.self, RoamResume.self, RoamPassphrase.self,
        ])
}
