"""Which pairs a calibration is fitted on, and which it is measured on."""

from collections import Counter

from seq2see import Translator
from seq2see.measures.calibration import calibration_pairs
from seq2see.pretrained import HOME
from seq2see.training.config import load_record
from seq2see.training.reading import book


def test_the_temperature_is_fitted_on_validation_pairs_and_measured_on_test_pairs() -> None:
    run = HOME / "storybook"
    found, name = calibration_pairs(Translator.from_pretrained("storybook", engine="torch"), run)
    [(languages, (fitted, held))] = found.items()
    story = book("fr", load_record(run / "run.yaml").training["seed"])
    assert languages == ("en", "fr") and name == "the validation and test pairs"
    assert Counter(fitted) == Counter((one.source, one.target) for one in story.val)
    assert Counter(held) == Counter((one.source, one.target) for one in story.test)
