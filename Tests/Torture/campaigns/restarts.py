"""A clean end and a start: the simplest of all, and the sample of a campaign."""

from gi.repository import GLib

from desktop import Desktop
from ground import Ground, Outcome

NAME = "restarts"
FAULTS = "SIGTERM right after a change"


def run(ground: Ground) -> list[Outcome]:
    findings = []
    trials = ground.scale(3, 30)
    with Desktop(ground) as desktop:
        desktop.start()
        client = desktop.connect()
        for number in range(trials):
            client.call("SetValue", "(ssv)", "org.example.App", "number", GLib.Variant("x", number))
            desktop.restart()
            value, _ = client.call("GetValue", "(ss)", "org.example.App", "number")
            if value != number:
                findings.append(f"expected {number} after the restart, got {value}")
        ground.say(f"{trials} restarts")
    return [Outcome("SIGTERM right after a change", trials, findings)]
