// swift-tools-version: 6.2
import PackageDescription

/// Warnings are errors in continuous integration only: a later compiler may have new ones.
let isContinuousIntegration = Context.environment["DEFAULTSD_WARNINGS"] == "error"

let strict: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + (isContinuousIntegration ? [.treatAllWarnings(as: .error)] : [])

/// A module of ours: its dependencies are those that the design's table allows it.
func module(_ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [])
    -> Target
{
    .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

func program(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [])
    -> Target
{
    .executableTarget(
        name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

/// A program that shows how applications use the library.
func example(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .executableTarget(
        name: name, dependencies: ["DefaultsClient", "ExampleSupport"] + dependencies,
        path: "Sources/Examples/\(name)", swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// The packages that only the programs need, so that applications do not fetch them.
let programs = TargetDependencyCondition.when(traits: ["Programs"])
let logging = Target.Dependency.product(
    name: "Logging", package: "swift-log", condition: programs)
let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: programs)

let package = Package(
    name: "defaultsd",
    products: [
        .executable(name: "defaultsd", targets: ["defaultsd"]),
        .executable(name: "defaultsctl", targets: ["defaultsctl"]),
        .executable(name: "defaultsd-roam", targets: ["defaultsd-roam"]),
        .library(name: "DefaultsClient", targets: ["DefaultsClient"]),
        .library(name: "KeyedArchive", targets: ["KeyedArchive"]),
        .library(name: "DefaultsFoundation", targets: ["DefaultsFoundation"]),
        .library(name: "DefaultsSecrets", targets: ["DefaultsSecrets"]),
        .library(name: "PropertyList", targets: ["PropertyList"]),
    ],
    traits: [
        .trait(
            name: "Programs",
            description: "Builds the daemon and the tool; the Makefile enables it.")
    ],
    // Exact, so that the same sources are built on every day. There is no Package.resolved in the
    // repository: it would have the revisions of whatever copy the packages were fetched from.
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    ],
    targets: [
        .systemLibrary(
            name: "CDBus", path: "CDBus", pkgConfig: "dbus-1",
            providers: [.apt(["libdbus-1-dev"]), .yum(["dbus-devel"])]),
        .systemLibrary(
            name: "CSQLite", path: "Sources/CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"])]),
        .systemLibrary(
            name: "CExpat", path: "Sources/CExpat", pkgConfig: "expat",
            providers: [.apt(["libexpat1-dev"]), .yum(["expat-devel"])]),
        .systemLibrary(
            name: "CSodium", path: "Sources/CSodium", pkgConfig: "libsodium",
            providers: [.apt(["libsodium-dev"]), .yum(["libsodium-devel"])]),

        .systemLibrary(
            name: "CPostgres", path: "Sources/CPostgres", pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .yum(["libpq-devel"])]),

        .systemLibrary(name: "CLinux", path: "Sources/CLinux"),

        module("Wording"),
        module("SystemCalls", ["CLinux"]),
        module("Confinement", ["CLinux", "SystemCalls"]),
        module("PropertyList", ["Wording"]),
        module("KeyedArchive", ["PropertyList", "Wording"]),
        module("ValuePaths", ["KeyedArchive", "PropertyList", "Wording"]),
        module("ArchiveInspection", ["KeyedArchive", "PropertyList", "Wording"]),
        module("XMLPropertyList", ["PropertyList", "CExpat"]),
        module("OpenStepPropertyList", ["PropertyList", "KeyedArchive"]),
        module("DomainForms", ["KeyedArchive", "PropertyList", "XMLPropertyList"]),
        .systemLibrary(
            name: "CYAML", path: "Sources/CYAML",
            providers: [.apt(["libyaml-dev"]), .yum(["libyaml-devel"])]),
        module("YAMLDocuments", ["OwnedDocuments", "KeyedArchive", "PropertyList", "CYAML"]),
        module(
            "OwnedDocuments",
            [
                "DefaultsTerms", "DomainForms", "KeyedArchive", "PropertyList", "ValuePaths",
                "XMLPropertyList",
            ]),
        module("SQLite", ["CSQLite"]),
        module("DBus", ["CDBus", "CLinux", "SystemCalls", "Wording"]),
        module("ServiceLife", ["CLinux", "DBus", "SystemCalls"]),
        module("DefaultsTerms"),
        module("DefaultsModel", ["DefaultsTerms"]),
        module(
            "DefaultsXfconf",
            [
                "DefaultsModel", "DefaultsProtocol", "DefaultsTerms", "DBus", "KeyedArchive",
                "CExpat",
            ]),
        module("DefaultsPortal", ["DefaultsProtocol", "DBus", "KeyedArchive"]),
        module(
            "DefaultsFiles",
            [
                "DefaultsModel", "DefaultsTerms", "DefaultsXfconf", "DomainForms", "KeyedArchive",
                "PropertyList", "XMLPropertyList", "SystemCalls",
            ]),
        module(
            "DefaultsStorage",
            ["DefaultsModel", "DefaultsTerms", "SQLite", "CLinux", "SystemCalls", "Wording"]),
        module(
            "DefaultsProtocol",
            ["DefaultsTerms", "DBus", "KeyedArchive", "PropertyList", "SystemCalls"],
            exclude: ["org.defaultsd.Defaults1.xml"]),
        module(
            "DconfFiles",
            ["DefaultsTerms", "DefaultsProtocol", "DBus", "SystemCalls", "CExpat"]),
        module(
            "DefaultsDconf",
            ["DefaultsTerms", "DefaultsProtocol", "DconfFiles", "DBus", "KeyedArchive"]),
        module(
            "DefaultsCore",
            [
                "DefaultsTerms", "DefaultsModel", "DefaultsStorage", "DefaultsFiles",
                "DefaultsProtocol", "DBus", "KeyedArchive", "PropertyList", "CLinux",
                "SystemCalls", logging, "Wording",
            ]),
        module(
            "DefaultsService",
            [
                "DefaultsTerms", "DefaultsModel", "DefaultsStorage", "DefaultsFiles",
                "DefaultsCore",
                "DefaultsProtocol", "DefaultsXfconf", "DefaultsDconf", "DconfFiles",
                "DefaultsPortal", "Confinement", "ServiceLife", "DBus", "KeyedArchive",
                "SystemCalls", logging, "Wording",
            ]),
        module(
            "DefaultsClient",
            [
                "DefaultsTerms", "DefaultsProtocol", "KeyedArchive", "PropertyList",
                "OpenStepPropertyList", "DBus", "CLinux", "SystemCalls", "Wording",
            ]),
        module(
            "DefaultsFoundation",
            ["DefaultsTerms", "DefaultsClient", "KeyedArchive", "PropertyList", "CLinux"]),
        module(
            "DefaultsSecrets", ["DefaultsTerms", "DBus", "KeyedArchive", "SystemCalls", "Wording"]),
        module("RoamingTerms", ["DefaultsTerms", "DBus", "KeyedArchive"]),
        module(
            "DefaultsRoaming",
            [
                "DefaultsTerms", "RoamingTerms", "DefaultsProtocol", "DefaultsClient",
                "DefaultsSecrets", "DBus", "KeyedArchive", "SQLite", "CSodium",
            ]),
        module(
            "RoamingDirectory",
            [
                "DefaultsRoaming", "DefaultsTerms", "DBus", "PropertyList", "SQLite", "SystemCalls",
            ]),
        module("Postgres", ["CPostgres", "DBus"]),
        module(
            "RoamingPostgres",
            ["RoamingTerms", "DefaultsRoaming", "Postgres", "DBus", "SystemCalls"]),
        program("defaultsd", ["DefaultsService", "DefaultsFiles", logging]),
        program(
            "defaultsd-roam",
            [
                "DefaultsRoaming", "RoamingDirectory", "RoamingPostgres", "ServiceLife",
                "DefaultsProtocol", "DBus", "SystemCalls", "Wording",
            ]),
        program(
            "defaultsctl",
            [
                "DefaultsTerms", "DefaultsClient", "DefaultsFiles", "DefaultsModel",
                "DefaultsProtocol", "DomainForms", "DBus", "KeyedArchive", "OwnedDocuments",
                "ValuePaths",
                "ArchiveInspection", "PropertyList", "XMLPropertyList", "OpenStepPropertyList",
                "DefaultsXfconf", "DefaultsDconf", "DefaultsPortal", "DconfFiles", "RoamingTerms",
                "CLinux", "SystemCalls", argumentParser, "Wording", "YAMLDocuments",
            ], exclude: ["Completion/Scripts"]),

        // The library for C, which the Makefile links: SwiftPM would not link Swift's library statically.
        module(
            "CDefaults",
            ["DefaultsClient", "DefaultsProtocol", "KeyedArchive", "SystemCalls"],
            exclude: ["abi-description", "defaults.h", "defaults.pc.in", "link"]),

        // What is installed: building this target builds the programs and the library for C at once.
        module(
            "Programs", ["defaultsd", "defaultsctl", "defaultsd-roam", "CDefaults"],
            exclude: ["hashes.ld", "sections.ld"]),

        .target(
            name: "ExampleSupport",
            dependencies: ["DefaultsClient", "DefaultsFoundation", "KeyedArchive"],
            path: "Sources/Examples/Support", swiftSettings: strict),
        example("Accounts", ["DefaultsFoundation", "KeyedArchive"]),
        example("BooksOwned", ["KeyedArchive"]),
        example("GameOptions", ["DefaultsFoundation", "KeyedArchive"]),
        example("Library", ["DefaultsFoundation", "DefaultsSecrets", "KeyedArchive"]),
        example("ScaryBugs", ["DefaultsFoundation", "KeyedArchive"]),

        .target(
            name: "TestSupport", dependencies: ["CLinux"], path: "Tests/TestSupport",
            swiftSettings: strict),
        .target(
            name: "TestTiers", dependencies: ["TestSupport", "CLinux"], path: "Tests/TestTiers",
            swiftSettings: strict),
        .target(
            name: "ArchiveTestSupport", dependencies: ["PropertyList"],
            path: "Tests/ArchiveTestSupport", swiftSettings: strict),
        .target(
            name: "CodecProperties",
            dependencies: [
                "KeyedArchive", "ValuePaths", "ArchiveInspection", "PropertyList",
                "DefaultsFoundation", "TestSupport",
            ],
            path: "Tests/Fuzz/CodecProperties", swiftSettings: strict),
        .executableTarget(
            name: "StorageCrashWriter", dependencies: ["DefaultsModel", "DefaultsStorage"],
            path: "Tests/StorageCrashWriter", swiftSettings: strict),
        .executableTarget(
            name: "SetArchiver", dependencies: ["DefaultsFoundation", "KeyedArchive"],
            path: "Tests/SetArchiver", swiftSettings: strict),
        .executableTarget(
            name: "ClientProgram", dependencies: ["DefaultsClient", "DBus"],
            path: "Tests/ClientProgram", swiftSettings: strict),
        .executableTarget(
            name: "MigratingProgram", dependencies: ["DefaultsClient", "DefaultsFoundation"],
            path: "Tests/MigratingProgram", swiftSettings: strict),
        .executableTarget(
            name: "ConfinedProgram", dependencies: ["DefaultsService", "SystemCalls", "CLinux"],
            path: "Tests/ConfinedProgram", swiftSettings: strict),
        .executableTarget(
            name: "PageReader", dependencies: ["CDBus"], path: "Tests/PageReader",
            cSettings: [
                .enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error),
            ]),
        tests("HarnessTests", ["TestSupport", "TestTiers"]),
        tests("WordingTests", ["Wording"]),
        tests("PropertyListTests", ["PropertyList", "TestSupport", "TestTiers"]),
        tests(
            "KeyedArchiveTests",
            [
                "KeyedArchive", "ValuePaths", "ArchiveInspection", "PropertyList",
                "CodecProperties", "TestSupport", "ArchiveTestSupport", "TestTiers",
            ]),
        tests(
            "XMLPropertyListTests", ["XMLPropertyList", "PropertyList", "TestSupport", "TestTiers"]),
        tests(
            "OpenStepPropertyListTests",
            ["OpenStepPropertyList", "KeyedArchive", "PropertyList", "TestSupport", "TestTiers"]),
        tests(
            "DefaultsFoundationTests",
            [
                "DefaultsClient", "DefaultsFoundation", "KeyedArchive", "PropertyList",
                "SetArchiver", "TestSupport", "ArchiveTestSupport", "TestTiers",
            ]),
        .executableTarget(
            name: "RoamTorture",
            dependencies: [
                "DefaultsRoaming", "RoamingDirectory", "RoamingPostgres", "RoamingTerms",
                "DefaultsClient", "DefaultsProtocol", "DBus", "KeyedArchive", "TestSupport",
            ],
            path: "Tests/RoamTorture", exclude: ["ablations"], swiftSettings: strict),
        .executableTarget(
            name: "RoamFleet",
            dependencies: ["DefaultsRoaming", "RoamingPostgres", "DBus", "TestSupport"],
            path: "Tests/RoamFleet", swiftSettings: strict),
        tests("SQLiteTests", ["SQLite", "TestSupport", "TestTiers"]),
        tests("DBusTests", ["DBus", "CDBus", "SystemCalls", "TestSupport", "TestTiers"]),
        tests(
            "DefaultsClientTests",
            ["DefaultsClient", "DefaultsFoundation", "KeyedArchive", "TestSupport", "TestTiers"]),
        tests("DefaultsModelTests", ["DefaultsModel", "DefaultsTerms", "TestSupport"]),
        tests(
            "DocumentationTests",
            [
                "DefaultsClient", "DefaultsFoundation", "DefaultsSecrets", "KeyedArchive",
                "PropertyList",
            ]),
        // A target for tests has what other targets for tests share: only these see what is internal.
        tests(
            "ServiceHarness",
            [
                "DefaultsCore", "DefaultsService", "DefaultsFiles", "DefaultsModel",
                "DefaultsProtocol", "DefaultsStorage", "DBus", "CDBus", "SQLite", "SystemCalls",
                "TestSupport",
                logging,
            ]),
        tests(
            "ToolHarness",
            [
                "defaultsctl", "DBus", "DefaultsClient", "DefaultsFiles", "DefaultsProtocol",
                "DconfFiles", "SQLite", "ServiceHarness", "SystemCalls", "TestSupport",
            ]),
        tests(
            "DefaultsServiceTests",
            [
                "DefaultsCore", "DefaultsService", "DefaultsFiles", "DefaultsModel",
                "DefaultsProtocol", "DefaultsStorage", "DefaultsTerms", "DBus", "CDBus",
                "KeyedArchive", "PropertyList", "SQLite", "SystemCalls", "ServiceHarness",
                "ArchiveTestSupport", "TestSupport", logging,
            ]),
        tests(
            "OwnedDocumentsTests",
            [
                "OwnedDocuments", "YAMLDocuments", "KeyedArchive", "PropertyList", "ValuePaths",
                "XMLPropertyList", "TestSupport",
            ]),
        tests(
            "DefaultsctlTests",
            [
                "defaultsctl", "DBus", "DefaultsFiles", "DefaultsProtocol", "DomainForms",
                "KeyedArchive", "PropertyList", "RoamingTerms", "ServiceHarness", "ValuePaths",
                "DefaultsTerms", "ArchiveTestSupport", "TestSupport", "ToolHarness",
            ]),
        tests(
            "DefaultsSecretsTests",
            ["DefaultsSecrets", "DBus", "KeyedArchive", "TestSupport", "TestTiers"]),
        tests(
            "DefaultsRoamingTests",
            [
                "DefaultsRoaming", "RoamingTerms", "DBus", "KeyedArchive", "PropertyList",
                "TestSupport", "ArchiveTestSupport",
            ]),
        tests(
            "RoamingDirectoryTests",
            ["RoamingDirectory", "DefaultsRoaming", "DBus", "SQLite", "TestSupport", "TestTiers"]),
        tests(
            "DefaultsXfconfTests",
            ["DefaultsXfconf", "DefaultsModel", "DefaultsProtocol", "DBus", "KeyedArchive"]),
        tests(
            "DefaultsPortalTests", ["DefaultsPortal", "DefaultsProtocol", "DBus", "KeyedArchive"]),
        tests(
            "DefaultsDconfTests",
            [
                "DefaultsDconf", "DconfFiles", "DefaultsProtocol", "DBus", "KeyedArchive",
                "TestSupport", "TestTiers",
            ]),
        tests(
            "DefaultsFilesTests",
            [
                "DefaultsFiles", "DefaultsModel", "DefaultsXfconf", "KeyedArchive", "PropertyList",
                "TestSupport",
            ]),
        tests(
            "DefaultsStorageTests",
            [
                "DefaultsTerms", "DefaultsModel", "DefaultsStorage", "SQLite", "CSQLite",
                "SystemCalls", "StorageCrashWriter", "TestSupport", "TestTiers",
            ]),
        tests(
            "DefaultsProtocolTests",
            [
                "DefaultsTerms", "DefaultsProtocol", "DBus", "KeyedArchive", "PropertyList",
                "SystemCalls", "TestSupport", "TestTiers",
            ]),
        tests(
            "DconfFilesTests",
            ["DconfFiles", "DefaultsProtocol", "TestSupport", "TestTiers"]),
        tests(
            "RoamingPostgresTests",
            [
                "RoamingPostgres", "Postgres", "DefaultsRoaming", "DBus", "TestSupport",
                "RoamFleet", "TestTiers",
            ]),
        tests(
            "EndToEndTests",
            [
                "DefaultsClient", "DefaultsFiles", "DefaultsProtocol", "DefaultsRoaming",
                "DefaultsTerms", "RoamingDirectory", "RoamingTerms", "DBus", "KeyedArchive",
                "TestSupport", "PageReader", "ClientProgram", "MigratingProgram",
                "ConfinedProgram", "RoamTorture", "Accounts", "BooksOwned", "GameOptions",
                "Library", "ScaryBugs", "TestTiers", "ToolHarness",
            ]),
    ]
)

// The fuzzer is built by its own script, with coverage for libFuzzer, which brings the main function.
if Context.environment["DEFAULTSD_FUZZ"] != nil {
    package.targets += [
        .systemLibrary(name: "CLibFuzzer", path: "Tests/Fuzz/CLibFuzzer"),
        .executableTarget(
            name: "fuzz-codec", dependencies: ["CodecProperties", "CLibFuzzer"],
            path: "Tests/Fuzz/Target",
            swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]),
    ]
}
