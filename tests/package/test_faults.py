"""The planted faults still fit the code: a fault whose target is gone says nothing about the tests."""

from pathlib import Path

from planted import all_faults


def test_every_fault_finds_what_it_replaces_and_the_tests_that_notice_it(root: Path) -> None:
    faults = all_faults()
    assert 40 < len(faults) == len({one.name for one in faults}) <= 80
    for one in faults:
        one.find()  # raises AttributeError or ImportError
        assert all((root / "tests" / test.partition("::")[0]).exists() for test in one.tests.split()), one.name
