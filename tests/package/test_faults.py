"""The planted faults fit the code: one whose target is gone proves nothing about the tests."""

from planted import all_faults


def test_every_fault_finds_what_it_replaces_and_the_tests_that_notice_it(root):
    faults = all_faults()
    assert len(faults) == len({fault.name for fault in faults}) <= 80
    for fault in faults:
        fault.find()
        assert all((root / "tests" / file).is_file() for file in fault.tests), fault.name
