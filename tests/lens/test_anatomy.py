"""Where the attentions are: found in every family, in order, and truly the ones that attend."""

import pytest
import torch
from torch import nn

from seq2see.errors import UserError
from seq2see.lens.hooks import attention_sites
from seq2see.lens.kinds import KINDS
from seq2see.lens.tracing import trace_hypotheses


def test_every_layer_and_head_of_the_maps_has_its_site(any_model):
    model, tokenizer = any_model
    [trace] = trace_hypotheses(model, tokenizer, ["The cat."], [[5, 6, 2]])
    sites = attention_sites(model)
    for kind in KINDS:
        assert [site.layer for site in sites[kind]] == list(range(len(sites[kind])))
        layers, heads = trace.maps(kind).shape[:2]
        assert [(site.kind, site.heads) for site in sites[kind]] == [(kind, heads)] * layers


def test_weights_times_values_is_what_the_output_projection_reads(any_model):
    """So kind, layer, the columns of a head, and both projections are the right ones."""
    model, tokenizer = any_model
    source, target = "The cat did not cross.", [5, 6, 7, 2]
    seen: dict[nn.Module, torch.Tensor] = {}
    sites = [site for kind in KINDS for site in attention_sites(model)[kind]]
    hooks = []
    for site in sites:
        hooks.append(site.value.register_forward_hook(lambda module, _, out: seen.update({module: out[0]})))
        hooks.append(site.output.register_forward_pre_hook(lambda module, args: seen.update({module: args[0][0]})))
    [trace] = trace_hypotheses(model, tokenizer, [source], [target])
    for hook in hooks:
        hook.remove()
    for site in sites:
        value_SHE = seen[site.value].unflatten(-1, (site.heads, site.head_size))
        weight_HTS = torch.tensor(trace.maps(site.kind)[site.layer])
        mixed = torch.einsum("hts,she->the", weight_HTS, value_SHE).flatten(1)
        torch.testing.assert_close(mixed, seen[site.output], rtol=0, atol=1e-5)


def test_a_model_built_otherwise_is_refused(seq2see):
    model, _ = seq2see

    class Stranger:
        def get_encoder(self):
            return nn.Linear(2, 2)

        get_decoder = get_encoder

    with pytest.raises(UserError, match="Stranger is not built like"):
        attention_sites(Stranger())
