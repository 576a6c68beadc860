"""A service manager that keeps the descriptors of a daemon, as systemd does, and nothing else."""

import pathlib
import socket
import threading


class ServiceManager:
    """It listens at `notify` in a directory, until it is ended."""

    def __init__(self, directory: pathlib.Path):
        path = directory / "notify"
        self.variables = {"NOTIFY_SOCKET": str(path), "FDSTORE": "1"}
        """What a daemon has in its environment."""
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        kept: list[int] = []
        while True:
            message, descriptors, _, _ = socket.recv_fds(self.socket, 4096, 8)
            kept += descriptors
            if not message:
                return self.socket.close()

    def end(self) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
            other.sendto(b"", self.variables["NOTIFY_SOCKET"])
