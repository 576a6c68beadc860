// swift-tools-version: 6.2
import PackageDescription

// A package of its own, because all of it is built with coverage for libFuzzer, which also brings
// the main function. See fuzz beside this file.

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let codec: [Target.Dependency] = [
    .product(name: "KeyedArchive", package: "defaultsd"),
    .product(name: "PropertyList", package: "defaultsd"),
    .product(name: "DefaultsFoundation", package: "defaultsd"),
]

let package = Package(
    name: "fuzz",
    dependencies: [.package(name: "defaultsd", path: "../..")],
    targets: [
        .systemLibrary(name: "CLibFuzzer", path: "CLibFuzzer"),
        .target(
            name: "CodecProperties", dependencies: codec, path: "CodecProperties",
            swiftSettings: strict),
        .executableTarget(
            name: "fuzz-codec", dependencies: ["CodecProperties", "CLibFuzzer"], path: "Target",
            swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]),
    ]
)
