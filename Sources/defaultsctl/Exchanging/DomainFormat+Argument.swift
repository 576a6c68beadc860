public import ArgumentParser
public import DefaultsFiles

extension DomainFormat: ExpressibleByArgument {}
