"""Where the attentions of an encoder-decoder are: the same few facts for Seq2See, Marian, BART, T5 and their kin.

Everything in this folder that goes deeper than the returned weights (value-weighted views, ablation, patching) asks
here, so that the naming habits of transformers' model families are known in one place.  It knows Seq2See, Marian, BART,
mBART, M2M-100 and NLLB (NLLB-MoE too), Pegasus, Blenderbot, PLBart, T5, mT5, UMT5 and Switch.
"""

from dataclasses import dataclass

from torch import nn
from transformers import PreTrainedModel

from seq2see.errors import UserError
from .kinds import Kind


def supervised_heads(model: PreTrainedModel) -> frozenset[tuple[int, ...]]:
    """The heads (layer, head) of cross-attention that were trained with gold links (`training/guided.py`)."""
    return frozenset(map(tuple, getattr(model.config, "supervised_heads", None) or ()))


@dataclass(frozen=True)
class AttentionSite:
    """One attention module.  The value projection's output and the output projection's input have H * E columns.

    Head h owns columns h*E to (h+1)*E of both, so `output.weight[:, h*E:(h+1)*E]` is the head's W_O.
    """

    kind: Kind
    layer: int
    module: nn.Module
    value: nn.Linear
    output: nn.Linear
    heads: int
    norm: nn.Module  # before it where the model is pre-norm (Seq2See, T5), after its residual where post-norm (Marian)

    @property
    def head_size(self) -> int:
        """E, the columns of one head."""
        return self.output.in_features // self.heads


# The names of value projection, output projection and number of heads in transformers' two habits, BART's and T5's, and
# of the norm beside the module, which has the name {}.
HABITS = (("v_proj", "out_proj", "num_heads", "{}_layer_norm"), ("v", "o", "n_heads", "layer_norm"))


def attention_sites(model: PreTrainedModel) -> dict[Kind, tuple[AttentionSite, ...]]:
    """The attention modules of a model by kind, first layer first.

    In a decoder layer self-attention comes before cross-attention, as in every transformers encoder-decoder.  UserError
    where a layer's attention follows neither naming habit, or lays its activations out otherwise than [B,T,D].
    """
    encoder, decoder = _attentions(model.get_encoder()), _attentions(model.get_decoder())
    if not encoder or not decoder or len(decoder) % 2:
        raise UserError(f"{type(model).__name__} is not built like BART or T5, so its heads cannot be reached")
    if not all(hasattr(module, "config") for module, _, _ in (*encoder, *decoder)):  # FSMT's, [T,B,D], has none
        raise laid_out_otherwise(model)
    return {
        "encoder": tuple(_site("encoder", layer, *found) for layer, found in enumerate(encoder)),
        "decoder": tuple(_site("decoder", layer, *found) for layer, found in enumerate(decoder[::2])),
        "cross": tuple(_site("cross", layer, *found) for layer, found in enumerate(decoder[1::2])),
    }


def layer_list(stack: nn.Module) -> nn.ModuleList:
    """The one list of modules that a stack has; UserError where it has none."""
    found = next((child for child in stack.children() if isinstance(child, nn.ModuleList)), None)
    if found is None:
        raise UserError(f"{type(stack).__name__} is not built like BART or T5, so its layers cannot be reached")
    return found


def laid_out_otherwise(model: PreTrainedModel) -> UserError:
    """What to raise for a model whose activations inside are not [B,T,D]."""
    return UserError(
        f"{type(model).__name__} lays its activations out otherwise than BART and T5: nothing inside it can be read"
    )


def _attentions(stack: nn.Module) -> list[tuple[nn.Module, nn.Module, str]]:
    """Each attention, what it is a part of, and its name there."""
    found = []
    for name, module in stack.named_modules():
        parent, _, own = name.rpartition(".")
        around = stack.get_submodule(parent)
        if any(_has(module, v) and _has(module, o) and hasattr(around, norm.format(own)) for v, o, _, norm in HABITS):
            found.append((module, around, own))
    return found


def _has(module: nn.Module, projection: str) -> bool:
    return isinstance(getattr(module, projection, None), nn.Linear)


def _site(kind: Kind, layer: int, module: nn.Module, around: nn.Module, own: str) -> AttentionSite:
    value, output, heads, norm = next(habit for habit in HABITS if _has(module, habit[0]))
    return AttentionSite(
        kind, layer, module, getattr(module, value), getattr(module, output), int(getattr(module, heads)),
        getattr(around, norm.format(own)),
    )
