"""The feed-forward layers of a model, their neurons, and the output weights of the neurons.

    output = sum over neurons n of activation[n] W_out[:,n]  +  bias        (Geva et al. 2021: keys and values)

The activation of a neuron is an input of the output projection.  In gated layers (T5 1.1, mT5, UMT5) it is the product
of gate and value, which can be negative.  A mixture of experts (NLLB-MoE, every other layer of Switch) has no fixed
list of neurons, because the router selects them for each token.
"""

from dataclasses import dataclass

from torch import nn
from transformers import PreTrainedModel

from seq2see.errors import UserError
from .hooks import STACKS, Stack, layers_of

# The projections into a feed-forward layer (the gate first, if there are two) and out of it: BART's names, then T5's.
PROJECTIONS = ((("fc1",), "fc2"), (("wi",), "wo"), (("wi_0", "wi_1"), "wo"))


@dataclass(frozen=True)
class FeedForwardSite:
    """The feed-forward layer of one encoder or decoder layer.

    It has the layer that contains it, its norm, the projections into it and the output projection, whose input columns
    are the neurons.  A mixture of experts has none of these projections, because each expert reads only some positions.
    `last` is the module that returns its output.
    """

    stack: Stack
    layer: int
    module: nn.Module
    norm: nn.Module
    inner: tuple[nn.Linear, ...]
    output: nn.Linear | None
    last: nn.Module


def feed_forward_sites(model: PreTrainedModel, stack: Stack) -> tuple[FeedForwardSite, ...]:
    """The feed-forward layers of a stack, first layer first.

    Raises UserError for a model that is not built like BART or T5.
    """
    return tuple(_site(stack, number, layer) for number, layer in enumerate(layers_of(model, stack)))


def neurons_of(model: PreTrainedModel, stack: Stack, layer: int) -> nn.Linear:
    """The output projection of a feed-forward layer; its input columns are the neurons.

    Raises UserError for a layer that does not exist or has no neurons of its own; the message lists layers with
    neurons.
    """
    if stack not in STACKS:
        raise UserError(f"there is no stack {stack!r}: expected encoder or decoder", exit_code=2)
    sites = feed_forward_sites(model, stack)
    if not 0 <= layer < len(sites):
        raise UserError(f"there is no {stack} layer {layer} here: expected 0 to {len(sites) - 1}", exit_code=2)
    output = sites[layer].output
    if output is None:
        dense = ", ".join(str(site.layer) for site in sites if site.output) or "none"
        raise UserError(f"{stack} layer {layer} is a mixture of experts, without neurons of its own; layers that have"
                        f" them: {dense}", exit_code=2)
    return output


def _site(stack: Stack, number: int, layer: nn.Module) -> FeedForwardSite:
    """Its norm comes last in a layer."""
    norms = [module for name, module in layer.named_modules() if name.endswith("layer_norm")]
    for name, module in layer.named_modules():
        for inner, last in PROJECTIONS:
            parts = [part for one in (*inner, last) if isinstance(part := getattr(module, one, None), nn.Linear)]
            if norms and len(parts) == len(inner) + 1:
                *before, after = parts
                outside, experts, _ = name.partition(".experts")
                if experts:
                    return FeedForwardSite(stack, number, layer, norms[-1], (), None, layer.get_submodule(outside))
                return FeedForwardSite(stack, number, layer, norms[-1], tuple(before), after, after)
    raise UserError(f"{type(layer).__name__} is not built like BART or T5, so its feed-forward layer cannot be reached")
