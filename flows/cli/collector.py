"""When Python looks for garbage: hardly while a command starts, and later only in what is new.

What a start imports stays. Looking through it again and again took a fifth of a short command's
time, and a tenth of a second of every run's start.
"""

import atexit
import gc

WHILE_STARTING = 500_000  # new objects between two looks; Python's own is 700
AT_WORK = 50_000


def put_off() -> None:
    """Let a command start; most are over before there is garbage worth looking for."""
    gc.set_threshold(WHILE_STARTING)
    atexit.register(gc.freeze)  # else everything would be looked through at the end


def look_from_now_on() -> None:
    """Let a long command collect garbage again, once it has imported all it needs."""
    gc.freeze()
    gc.set_threshold(AT_WORK)
