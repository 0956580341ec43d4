"""When to stop sending: pure counting of what the last answers proved.

A failing service must cost at most the requests that were in flight: after one unsure answer
no new request leaves until the problem list answers, and three in a row end the run.
"""

from dataclasses import dataclass

from data.store.states import Operation
from tasks.service.verdict import Proof, Then, Verdict

IN_A_ROW = 3


@dataclass(slots=True)
class Breaker:
    """`doubt` holds back new requests until a probe succeeds; `stop` is why the run ends."""

    doubt: bool = False
    stop: str | None = None
    unsure: int = 0
    refused: int = 0

    def heard(self, operation: Operation, judged: Verdict) -> None:
        """Count one finished exchange, in the order in which answers came."""
        if judged.then is Then.STOP:
            self.stop = self.stop or judged.reason
        match judged.proof:
            case Proof.UNSURE:
                self.doubt = True
                self.unsure += 1
                self.refused = 0
            case Proof.DONE:
                self.unsure = self.refused = 0
            case Proof.REFUSED:
                self.unsure = 0
                # A bulk add may really have many bad rows; an invitation has no content to refuse.
                if operation is Operation.INVITE:
                    self.refused += 1
        if self.unsure >= IN_A_ROW:
            self.stop = self.stop or (
                f"{IN_A_ROW} requests in a row got no clear answer, so sending stopped."
            )
        if self.refused >= IN_A_ROW:
            self.stop = self.stop or (
                f"{IN_A_ROW} invitations in a row were refused, so sending stopped. {judged.reason}"
            )

    def probed(self) -> None:
        """The problem list answered: the token and the API work (interface 4.2)."""
        self.doubt = False
