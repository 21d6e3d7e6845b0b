"""With positions another order is another text; without them it is the same set."""

import numpy as np
import pytest

from seq2see.errors import UserError
from seq2see.lens import trace_texts
from seq2see.lens.questions.word_order import predictions

SOURCE, TARGET = "The cat did not cross.", "Le chat n'a pas traversé."
SHUFFLED = "cross The not cat did."  # the same tokens


def test_without_positions_no_order_changes_a_prediction(any_model):
    model, tokenizer = any_model
    one, other = trace_texts(model, tokenizer, [SOURCE, SHUFFLED], [TARGET] * 2, source_language="en",
                             target_language="fr")
    assert one.source_ids != other.source_ids and sorted(one.source_ids) == sorted(other.source_ids)
    own = predictions(model, one)
    steps = range(len(one.target))
    np.testing.assert_allclose(own[steps, one.target_ids], one.log_probs, atol=1e-4)
    assert np.abs(own - predictions(model, other)).max() > 1e-2
    if model.config.model_type == "t5":
        with pytest.raises(UserError, match="has no position vectors"):
            predictions(model, one, positions=False)
        return
    blind = predictions(model, one, positions=False)
    np.testing.assert_allclose(blind, predictions(model, other, positions=False), atol=1e-4)
    assert np.abs(blind - own).max() > 1e-2
