import ArgumentParser
import DomainForms

extension DomainFormat: ExpressibleByArgument {}
