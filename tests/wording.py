"""Sentences that several modules of tests quote: each once, or the words of it that they need.

A sentence that one module alone quotes stands there (tests/project/test_printed_words.py).
"""

# -- files and their cells (config)

NO_FILE = "there is no such file"
CANNOT_SEPARATE = "the rows cannot be separated"
ONLY_PEOPLE = "this file has only candidates"
HIDDEN = "hidden, but read like any"
UNUSED = "columns not used and never sent"
SAME_PERSON = "the same person as"
BETWEEN_BRACKETS = "only what is between < and >"
BEFORE_AT = "of them before the @"
A_TYPO = "may be a typo for"
NO_FIELD = "there is no field"
AS_EMPTY_TEXT = "sent as empty text"
TIME_AS_WELL = "a time of day as well"
WHILE_UP = "while campaign up, serve or a worker is running"

# -- what was sent, and what is unsure (tasks, data)

NO_ANSWER = "no answer came back"
SENT_NO_ANSWER = "sent completely, no answer"
MAY_BE_SENT = "the invitation may have been sent"
SAME_WORDS = "with the same words"
STILL_WORKING = "may still be working on"
ONLY_UNSURE = "only what is unsure"
ID_TAKEN = "another candidate of this campaign already has the id"
SECOND_PROJECT = "there may be a second project"
ON_THE_LIST = "on the do-not-contact list since"
SYMBOLIC_LINK = "is a symbolic link"

# -- what a person reads at the end (flows)

INTERRUPTED = "The run was interrupted."
ANOTHER_GOES_ON = "Another run goes on"
WITHDRAWN_SINCE = "of them withdrawn since"
IN_HIDDEN_ROWS = "of them to people in hidden rows"
IN_NO_ROW = "not in any row of"
IF_RIGHT = "if the row is right: campaign"
ROW_WAS_RIGHT = "if the row was right"
NO_SUCH_CANDIDATE = "no candidate with this address"
PILOT_CONFIRMED = "confirmed the pilot's invitation"
