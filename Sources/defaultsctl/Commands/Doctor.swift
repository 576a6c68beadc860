import ArgumentParser
import DefaultsFiles

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Diagnoses the service and suggests fixes.",
        discussion: """
            It needs neither a bus nor a service. It never opens the database: the service reports \
            the state of its contents. Exit status: 0, or 1 if something does not work.
            """)

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let places = Places()
        let service = await ServiceCheck(places)
        let silentBus = service.silentBus
        let storage = (service.directory ?? places.database).map {
            StorageCheck(directory: $0, service: service.process)
        }
        var findings = [silentBus, storage?.cause].compactMap(\.self)
        findings += EnvironmentCheck(places: places).findings() + service.findings
        let layers =
            service.layerFiles.map(LayerCheck.init) ?? LayerCheck(readingFrom: .standard)
        findings += layers.findings()
        findings += InstallationCheck(places: places).findings()
        findings += PackageCheck().findings()
        findings += await DesktopCheck(places: places, asksBus: silentBus == nil).findings()
        if silentBus == nil { findings += await RoamCheck().findings() }
        findings += storage?.findings() ?? []
        try await reportingFailure {
            if json { return try SafeOutput.print(json: Finding.json(findings)) }
            let terminal = Terminal(color: .auto)
            try terminal.print(Finding.text(findings, on: terminal))
        }
        if findings.contains(where: { $0.state == .problem }) { throw ExitCode.failure }
    }
}
