"""The counter page that Attach hands out."""

import mmap
import os

OFFSET, PRIME = 0xCBF29CE484222325, 0x100000001B3
FIRST_SLOT = 16


class Page:
    """A mapped page; it keeps to the file that it was made of."""

    def __init__(self, descriptor: int):
        self.file = os.fstat(descriptor)
        self.words = memoryview(
            mmap.mmap(descriptor, 0, mmap.MAP_SHARED, mmap.PROT_READ)).cast("Q")

    def is_file(self, descriptor: int) -> bool:
        """Whether it is the page of this descriptor."""
        return os.path.samestat(self.file, os.fstat(descriptor))

    def slot(self, domain: str) -> int:
        """The word that counts the changes of a domain, whatever its suffix."""
        number = OFFSET
        for byte in domain.partition("@")[0].encode():
            number = (number ^ byte) * PRIME & (1 << 64) - 1
        return FIRST_SLOT + number % self.words[1]

    def counter(self, domain: str) -> int:
        return self.words[self.slot(domain)]
