"""`make mutants`: how many changes to the decisions the tests have caught, file by file.

Fails below LEAST percent. What was not caught is shown by `.mutants/bin/mutmut results`, and by
`.mutants/bin/mutmut show NAME`.
"""

import json
import sys
from pathlib import Path

LEAST = 90.0
NOT_CAUGHT = {0, 5, 33}  # the tests passed, or there was none to run; mutmut's own words for it
MUTANTS = Path(__file__).parents[2] / "mutants"


def main() -> int:
    made = caught = 0
    for meta in sorted(MUTANTS.rglob("*.py.meta")):
        ends = json.loads(meta.read_text())["exit_code_by_key"].values()
        if None in ends:
            print(f"{meta.relative_to(MUTANTS).with_suffix('')}: not tried to the end")
            return 1
        found = sum(end not in NOT_CAUGHT for end in ends)
        print(f"{found:>5} of {len(ends):>4}  {meta.relative_to(MUTANTS).with_suffix('')}")
        made, caught = made + len(ends), caught + found
    score = 100 * caught / made
    print(f"{caught:>5} of {made:>4}  {score:.1f} %, at least {LEAST:.0f} %")
    return int(score < LEAST)


if __name__ == "__main__":
    sys.exit(main())
