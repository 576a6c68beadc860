"""What was measured, round by round, and how it is printed: medians, ratios, tables."""

import collections
import statistics


class Rounds:
    """Times in microseconds by kind, in rounds in which all kinds take their turn.

    A ratio is the median of the ratios of each round, so that a machine that slows down for a while
    does not favour what was measured before.
    """

    def __init__(self):
        self.rounds = []

    def begin(self):
        self.rounds.append(collections.defaultdict(list))

    def add(self, times, of=None):
        """Takes in times by kind; if they belong to something, the kind is the pair of both."""
        for kind, values in times.items():
            self.rounds[-1][kind if of is None else (kind, of)].extend(values)

    def medians(self, kind):
        return [statistics.median(each[kind]) for each in self.rounds if each[kind]]

    def median(self, kind):
        return statistics.median(self.medians(kind))

    def tail(self, kind):
        """The 99th percentile of all."""
        values = sorted(value for each in self.rounds for value in each[kind])
        return values[len(values) * 99 // 100]

    def ratios(self, kind, floor):
        return [statistics.median(each[kind]) / statistics.median(each[floor])
                for each in self.rounds if each[kind] and each[floor]]

    def ratio(self, kind, floor):
        return statistics.median(self.ratios(kind, floor))

    def told(self, kind, floor):
        """The ratio, and between what the middle half of the rounds lies."""
        values = self.ratios(kind, floor)
        low, _, high = statistics.quantiles(values * 2, n=4, method="inclusive")
        return (f"{statistics.median(values):.2f}", f"{low:.2f}-{high:.2f}")


def told_time(microseconds):
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3g} {unit}"
    return f"{microseconds:.3g} us"


def print_table(title, header, rows):
    """Rows of words, the first column to the left and the others to the right."""
    rows = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    print(f"\n{title}")
    for row in rows:
        first, *others = (cell.rjust(width) for cell, width in zip(row, widths))
        print("  ".join([first.strip().ljust(widths[0]), *others]).rstrip(), flush=True)
