"""What became of faulted requests, counted."""

from collections import Counter
from dataclasses import dataclass, field

from tests.promise.wire.faulting_service import FaultingService


@dataclass
class Tally:
    """What became of some campaigns, and of requests by themselves."""

    campaigns: int = 0
    alone: int = 0  # faulted requests by themselves, without a campaign
    runs: int = 0
    requests: int = 0
    faults: int = 0
    unsure: int = 0
    settled: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    broken: dict[int, str] = field(default_factory=dict)

    def add(self, other: "Tally") -> None:
        """Count these as well."""
        for name in ("campaigns", "alone", "runs", "requests", "faults", "unsure", "settled"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.kinds += other.kinds
        self.broken |= other.broken

    def hears(self, service: FaultingService) -> None:
        """Count what a service met."""
        self.requests += len(service.record.requests)
        self.faults += service.faults
        self.kinds += service.kinds
