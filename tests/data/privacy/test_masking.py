"""Masks of names in what people typed: those that a text has are enough to mask it."""

from hypothesis import given
from hypothesis import strategies as st

from data.privacy.masking import masked_text, names_in, words_of_names

# Letters that change when they are folded or composed, scripts without capitals, and addresses.
words = st.text("aAbZöÖoİıŉßẞ李明月\u0308-'. ", max_size=5)
people = st.lists(st.tuples(words, words), max_size=4)
texts = st.lists(st.sampled_from(("Ada", "ada", "李明", "@x.Co", ", ")) | words, max_size=6).map(
    "".join
)


@given(people=people, text=texts, others=st.lists(texts, max_size=2))
def test_the_names_in_a_text_mask_it_as_all_names_do(
    people: list[tuple[str, str]], text: str, others: list[str]
) -> None:
    """Alone, and searched together with other texts."""
    people = [*people, ("Ada", "李")]
    masked = masked_text(text, words_of_names(people))
    assert masked_text(text, names_in([text], people)) == masked
    assert masked_text(text, names_in([*others, text], people)) == masked


def test_only_names_that_occur_are_kept() -> None:
    """Of 100,000 people hardly one is named."""
    people = [("Ada", "Lovelace"), ("Grace", "Hopper"), ("明", "李")]
    assert names_in(["Grace is away", "李明已确认"], people) == {"grace", "明", "李"}
    assert names_in(["without Grace", "Hopper stays"], people) == {"grace", "hopper"}
    assert names_in([], people) == set()
