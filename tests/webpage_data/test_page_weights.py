"""What a browser reads from the weights of a network: every tensor once, as close as its type allows."""

import numpy as np
import pytest
import torch
from tiny import make

from seq2see.errors import UserError
from seq2see.webpage_data.architecture import architecture
from seq2see.webpage_data.page_weights import web_weights


@pytest.fixture
def model():
    return make("seq2see")[0]


def read(manifest, buffer):
    """The tensors, as `webpage/model/weights.js` reads them."""
    found = {}
    for one in manifest["tensors"]:
        dtype, size = {"float16": "<f2", "int8": "i1"}[one["dtype"]], int(np.prod(one["shape"]))
        numbers = np.frombuffer(buffer, dtype, size, one["offset"]).reshape(one["shape"]).astype(np.float32)
        if one["dtype"] == "int8":
            numbers = numbers * np.frombuffer(buffer, "<f4", one["shape"][0], one["scales"])[:, None]
        found[one["name"]] = torch.from_numpy(numbers)
    return found


@pytest.mark.parametrize("dtype", ["float16", "int8"])
def test_a_browser_reads_the_state(model, dtype):
    model.model.shared.weight.data[7] = 0  # a row without a scale
    made = web_weights(model, dtype)
    found = read(made.manifest, made.buffer)
    parameters = dict(model.named_parameters())
    assert found.keys() == made.state.keys() == parameters.keys()
    assert "lm_head.weight" not in found, "it is tied to the embeddings"
    for name, weight in parameters.items():
        assert torch.equal(found[name], made.state[name])
        step = 2**-11 * weight.abs() if dtype == "float16" or weight.dim() == 1 else weight.abs().amax(1)[:, None] / 254
        assert ((found[name] - weight).abs() <= step * 1.0001 + 1e-7).all()
    assert all(one[part] % 4 == 0 for one in made.manifest["tensors"] for part in ("offset", "scales") if part in one)


def test_what_is_half_already_stays(model):
    model.half().float()
    made = web_weights(model, "float16")
    assert all(torch.equal(made.state[name], weight) for name, weight in model.named_parameters())
    assert len(made.buffer) == sum(2 * weight.numel() + 2 * weight.numel() % 4 for weight in model.parameters())


@pytest.mark.parametrize(("change", "message"), [
    (lambda model: vars(model.config).update(activation_function="mish"), "supports the activations .*, not mish"),
    (lambda model: setattr(model.config, "model_type", "t5"), "a browser runs .* BART models, not t5: use seq2see"),
    (lambda model: setattr(model.generation_config, "min_length", 9), "sets min_length"),
    (lambda model: setattr(model.generation_config, "bad_words_ids", [[5, 6]]), "sets bad_words_ids"),
    (lambda model: model.model.shared.weight.data.fill_(1e6), "model.shared.weight has weights too large for float16"),
])
def test_what_a_browser_cannot_have_is_refused(model, change, message):
    change(model)
    with pytest.raises(UserError, match=message):
        architecture(model)
        web_weights(model, "float16")
