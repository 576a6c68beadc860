"""Other circumstances for a program than those of this machine: see `c/elsewhere.c`."""

import pathlib
import struct
import subprocess

HERE = pathlib.Path(__file__).resolve().parent

NFS, EXT4 = 0x6969, 0xEF53


class Elsewhere:
    """Made for one scratch directory, into which it is compiled."""

    def __init__(self, directory: pathlib.Path):
        self.library = directory / "elsewhere.so"
        self.clock = directory / "clock"
        self.set_clock(0)
        subprocess.run(
            ["cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
             HERE / "c/elsewhere.c", "-o", self.library], check=True)

    def set_clock(self, seconds: int) -> None:
        """Shifts the clock, from the true time."""
        # In place: programs have it mapped.
        with self.clock.open("r+b" if self.clock.exists() else "wb") as file:
            file.write(struct.pack("=q", seconds))

    def environment(self, file_system: int = 0, lock_error: int = 0) -> dict[str, str]:
        """What to add to a program's; 0 leaves things as they are."""
        return {"LD_PRELOAD": str(self.library), "TORTURE_CLOCK": str(self.clock),
                "TORTURE_FILE_SYSTEM": hex(file_system), "TORTURE_LOCK_ERROR": str(lock_error)}
