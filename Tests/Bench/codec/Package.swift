// swift-tools-version: 6.2
import PackageDescription

// A package of its own, because it links Foundation dynamically, as nothing that is shipped does.

let package = Package(
    name: "bench-codec",
    dependencies: [.package(name: "defaultsd", path: "../../..")],
    targets: [
        .executableTarget(
            name: "bench-codec",
            dependencies: [
                .product(name: "KeyedArchive", package: "defaultsd"),
                .product(name: "PropertyList", package: "defaultsd"),
            ],
            path: "Sources",
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .treatAllWarnings(as: .error),
            ])
    ]
)
