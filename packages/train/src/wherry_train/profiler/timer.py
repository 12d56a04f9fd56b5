"""The speed of a loop: the time of a step, the part of it that goes into reading batches, and samples per second."""
from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter_ns

from wherry_tensor.explained import explained

__all__ = ["Benchmark"]

_WARM_UP = 10  # steps that count in the averages but neither as slowest nor as fastest


@dataclass(slots=True)
class _Series:
    """Seconds of steps, and how many samples they held."""

    total: float = 0.0
    count: int = 0
    samples: int = 0
    longest: float = 0.0
    shortest: float = field(default=float("inf"))

    def add(self, seconds: float, samples: int, extremes: bool) -> None:
        self.total += seconds
        self.count += 1
        self.samples += samples
        if extremes:
            self.longest, self.shortest = max(self.longest, seconds), min(self.shortest, seconds)

    @property
    def average(self) -> float:
        return self.total / self.count if self.count else 0.0


class Benchmark:
    """Times the steps between `begin` and `end`."""

    def __init__(self) -> None:
        self.unit = "steps"
        self._batches, self._reading = _Series(), _Series()
        self._lately, self._read_lately = _Series(), _Series()  # since `info` was asked last
        self._fastest, self._slowest = 0.0, float("inf")  # samples per second
        self._since = self._read = 0
        self._running = False

    def begin(self) -> None:
        """The first step begins."""
        self._since, self._read, self._running = perf_counter_ns(), 0, True

    def told(self, begin: int, end: int) -> None:
        """Reading a batch took this long."""
        self._read += end - begin

    def step(self, samples: int | None) -> None:
        """A step ends and the next one begins."""
        if not self._running:
            return
        now = perf_counter_ns()
        seconds, reading = (now - self._since) / 1e9, self._read / 1e9
        self._since, self._read = now, 0
        if samples is not None:
            self.unit = "samples"
        counted = 1 if samples is None else samples
        extremes = self._batches.count >= _WARM_UP
        for series in (self._batches, self._lately):
            series.add(seconds, counted, extremes)
        for series in (self._reading, self._read_lately):
            series.add(reading, counted, extremes)
        if extremes and seconds:
            speed = counted / seconds
            self._fastest, self._slowest = max(self._fastest, speed), min(self._slowest, speed)

    def end(self) -> None:
        """No more steps."""
        self._running = False

    def info(self, unit: str | None) -> str:
        """One line on the steps since it was asked last."""
        batches, reading = self._lately, self._read_lately
        text = f" reader_cost: {reading.average:.5f} s" if reading.total else ""
        speed = batches.samples / batches.total if batches.total else 0.0
        text += f" batch_cost: {batches.average:.5f} s ips: {speed:.3f} {self.unit if unit is None else unit}/s"
        if unit is not None:
            self.unit = unit
        self._lately, self._read_lately = _Series(), _Series()
        return text

    def table(self) -> str:
        """The table of all steps. The slowest and the fastest are those after the first ten, where there are more."""
        batches, reading = self._batches, self._reading
        if not batches.count:
            return ""
        speed = batches.samples / batches.total if batches.total else 0.0
        rows = [("reader_cost", reading.average, reading.longest, reading.shortest)] if reading.total else []
        rows += [("batch_cost", batches.average, batches.longest, batches.shortest), ("ips", speed, self._fastest, self._slowest)]
        lines = ["Perf Summary".center(100, "=")]
        if reading.total:
            lines.append(f"Reader Ratio: {100 * reading.total / batches.total:.3f}%")
        lines.append(f"Time Unit: s, IPS Unit: {self.unit}/s")
        lines.append("|" + "|".join(title.center(17) for title in ("", "avg", "max", "min")) + "|")
        few = batches.count <= _WARM_UP  # nothing after the warm-up: no extremes
        for name, *numbers in rows:
            shown = [f"{number:.5f}" if at == 0 or not few else "-" for at, number in enumerate(numbers)]
            lines.append("|" + "|".join(text.center(17) for text in (name, *shown)) + "|")
        return "\n".join(lines)


explained(globals())
