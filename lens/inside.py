"""What one attention block is made of: the vectors that the weights weigh, and the residual and norm around them.

A block is one attention with its residual and its norm.  Whatever the model, what it gives for row r is a sum,

    output[r] = sum over columns c of part[r,c]  +  residual[r]  +  constant[r]

The part of a column is the sum over heads of a[h,r,c] W_O^h v^h[c], where v^h[c] is the value of column c with its bias
(Kobayashi et al. 2020).  In a pre-norm model (Seq2See, T5) the norm lies before the attention, works on each column for
itself and so is inside v; the sum is exact as it stands.  In a post-norm model (Marian, BART) the norm comes last and
mixes all of them; with its standard deviation held at what it is for this row it is linear (Kobayashi et al. 2021,
Ferrando et al. 2022), and is applied to each part, its bias going to the constant.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import torch
from torch import nn

from seq2see.errors import UserError
from .anatomy import AttentionSite

# B sentences, H heads, R rows, C columns, E size of one head, D model width


@dataclass(frozen=True)
class Block:
    """One attention block while it worked on one sentence."""

    site: AttentionSite
    vector_HCD: torch.Tensor  # W_O^h v^h[c]: what a head would hand over if it put all its weight on column c
    residual_RD: torch.Tensor
    output_RD: torch.Tensor
    summed_RD: torch.Tensor | None  # what the norm at the end read; None in a pre-norm model

    @torch.no_grad()
    def parts(self, weight_HRC: torch.Tensor, rows: slice = slice(None)) -> torch.Tensor:
        """[R,C,D]: what each column adds to each row of the output, all heads together, without the residual."""
        part_RCD = torch.einsum("hrc,hcd->rcd", weight_HRC[:, rows], self.vector_HCD)
        return self._normed(part_RCD, rows)

    @torch.no_grad()
    def residual(self, rows: slice = slice(None)) -> torch.Tensor:
        """[R,D]: what a row's own state adds, past the attention."""
        return self._normed(self.residual_RD[rows, None], rows)[:, 0]

    @torch.no_grad()
    def constant(self, rows: slice = slice(None)) -> torch.Tensor:
        """[R,D]: what the biases of the output projection and of the norm at the end add."""
        bias_RD = torch.zeros_like(self.output_RD[rows])
        if self.site.output.bias is not None:
            bias_RD = bias_RD + self.site.output.bias
        normed_RD = self._normed(bias_RD[:, None], rows)[:, 0]
        return normed_RD if self.summed_RD is None else normed_RD + self.site.norm.bias

    def _normed(self, part_RCD: torch.Tensor, rows: slice) -> torch.Tensor:
        """The norm at the end, if there is one, as a linear map: centre, scale, and divide by the row's own spread."""
        if self.summed_RD is None:
            return part_RCD
        spread_R11 = (self.summed_RD[rows].var(-1, unbiased=False) + self.site.norm.eps).sqrt()[:, None, None]
        return (part_RCD - part_RCD.mean(-1, keepdim=True)) / spread_R11 * self.site.norm.weight


class Watch:
    """Keeps what passed through attention sites in the newest pass; made by `watching`."""

    def __init__(self) -> None:
        self._value: dict[nn.Module, torch.Tensor] = {}  # [B,C,H*E] of each attention module
        self._attended: dict[nn.Module, torch.Tensor] = {}  # [B,R,D]
        self._norm_in: dict[nn.Module, torch.Tensor] = {}
        self._norm_out: dict[nn.Module, torch.Tensor] = {}
        self._first: dict[nn.Module, str] = {}  # what comes first there: "norm" or "attention"

    @torch.no_grad()
    def vectors(self, site: AttentionSite, b: int, columns: int) -> torch.Tensor:
        """W_O^h v^h[c] of sentence b: [H,C,D]."""
        value_CHE = self._value[site.module][b, :columns].unflatten(-1, (site.heads, site.head_size))
        weight_DHE = site.output.weight.unflatten(-1, (site.heads, site.head_size))
        return torch.einsum("che,dhe->hcd", value_CHE, weight_DHE)

    def block(self, site: AttentionSite, b: int, rows: int, columns: int) -> Block:
        """The block around one site for sentence b, cropped to its rows and columns."""
        attended_RD, norm_in_RD, norm_out_RD = (
            kept[site.module][b, :rows] for kept in (self._attended, self._norm_in, self._norm_out)
        )
        pre_norm = self._first[site.module] == "norm"
        if not pre_norm and not isinstance(site.norm, nn.LayerNorm):
            raise UserError(f"the norm after attention is a {type(site.norm).__name__}, which has no linear form here")
        return Block(
            site=site,
            vector_HCD=self.vectors(site, b, columns),
            residual_RD=norm_in_RD if pre_norm else norm_in_RD - attended_RD,
            output_RD=norm_in_RD + attended_RD if pre_norm else norm_out_RD,
            summed_RD=None if pre_norm else norm_in_RD,
        )

    def hooks(self, site: AttentionSite) -> list:
        """Registers the hooks of one site; returns their handles."""

        def value(module: nn.Module, args: tuple, out: torch.Tensor) -> None:
            self._value[site.module] = out

        def attended(module: nn.Module, args: tuple, out: torch.Tensor) -> None:
            self._attended[site.module] = out
            self._first.setdefault(site.module, "attention")

        def norm(module: nn.Module, args: tuple, out: torch.Tensor) -> None:
            self._norm_in[site.module], self._norm_out[site.module] = args[0], out
            self._first.setdefault(site.module, "norm")

        pairs = ((site.value, value), (site.output, attended), (site.norm, norm))
        return [module.register_forward_hook(hook) for module, hook in pairs]


@contextmanager
def watching(sites: list[AttentionSite]) -> Iterator[Watch]:
    """Watch the sites of a model in every pass inside; no hook is left behind."""
    watch = Watch()
    with ExitStack() as hooks:
        for site in sites:
            for handle in watch.hooks(site):
                hooks.enter_context(handle)
        yield watch
