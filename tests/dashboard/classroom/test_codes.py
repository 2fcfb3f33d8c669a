import pytest

from dashboard.classroom.codes import ALPHABET, LENGTH, WrongCodes, new_code, spaced, typed_code


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def tries(limit, address, most=10_000):
    """Try wrong codes until no more are allowed; return how many were."""
    for number in range(most):
        if not limit.allows(address):
            return number
        limit.note(address)
    return most


def test_there_are_far_more_codes_than_anybody_can_try():
    assert len(set(ALPHABET)) ** LENGTH > 1e11
    assert len({new_code() for _ in range(1000)}) == 1000


def test_a_code_is_read_as_people_type_it():
    code = new_code()

    assert typed_code(code) == code
    assert typed_code(f" {spaced(code).lower()}\n") == code
    assert typed_code(f"{code[:4]}-{code[4:]}") == code


@pytest.mark.parametrize(
    "text", ["", "..", "BCDF", "BCDFGHJKL", "BCDFGHJ0", "BCDFGHJA", "../BCDFG"]
)
def test_what_cannot_be_a_code_is_none(text):
    assert typed_code(text) is None


def test_wrong_codes_are_limited_per_address_and_come_back_slowly(clock):
    limit = WrongCodes(most=5, per_second=0.1, clock=clock)

    assert tries(limit, "a") == 5
    assert limit.allows("b")
    clock.now += 9
    assert not limit.allows("a")
    clock.now += 2
    assert tries(limit, "a") == 1
    clock.now += 10_000
    assert tries(limit, "a") == 5


def test_many_addresses_are_limited_together(clock):
    limit = WrongCodes(most=5, most_of_all=20, per_second_of_all=1, clock=clock)

    assert sum(tries(limit, f"address {number}") for number in range(10)) == 20
    assert not limit.allows("somebody else")
    clock.now += 3
    assert tries(limit, "somebody else") == 3


def test_a_day_of_guessing_finds_no_class(clock):
    limit, n_classes = WrongCodes(clock=clock), 1000
    tried = 0
    for hour in range(24):
        clock.now = 3600.0 * hour
        tried += sum(tries(limit, f"{hour}:{address}") for address in range(100))
    steady = 24 * 3600 * 3.0  # what comes back over all addresses

    assert tried <= 24 * 300
    assert (tried + steady) * n_classes / len(ALPHABET) ** LENGTH < 0.002


def test_addresses_are_forgotten_once_their_mistakes_are_long_ago(clock):
    limit = WrongCodes(most=5, per_second=1, clock=clock)
    for number in range(100):
        limit.note(f"address {number}")
    clock.now += 100

    limit.note("another")

    assert list(limit._by_address) == ["another"]
