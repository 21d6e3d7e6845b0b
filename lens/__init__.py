"""Looking inside: the attention of every head while the model predicts exactly the translation shown.

A public name is imported on first use.  The names of the views need no library, and drawing needs no torch.

Imports passes, text, tokenizer and webpage.
Begin with `trace.py`, then `tracing.py`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # isort: off
    from ..tokenizer.encoding import encode_source as encode_source, encode_target as encode_target
    from .changes.activations import (
        Activations as Activations, At as At, Donor as Donor, Mean as Mean, Noise as Noise,
        SteeringVector as SteeringVector, Zero as Zero, activation_names as activation_names, intervene as intervene,
        run_with_cache as run_with_cache,
    )
    from .heads.alignment_choice import AlignmentChoice as AlignmentChoice
    from .questions.attribution import Attribution as Attribution, attribute as attribute
    from .questions.beam_search_tree import BeamTree as BeamTree, beam_tree as beam_tree
    from .data.word_maps import Unit as Unit, WordMap as WordMap, word_map as word_map
    from .records.calibration import Calibration as Calibration, Calibrator as Calibrator
    from .changes.choices import Choice as Choice, MinimalPairs as MinimalPairs, margins as margins
    from .sums.circuits import (
        Circuit as Circuit, Part as Part, SentencePair as SentencePair, find_circuit as find_circuit,
    )
    from .corpora.traced_corpus import Corpus as Corpus
    from .corpora.corpus_tracing import trace_corpus as trace_corpus
    from .questions.attributed_corpus import attribute_corpus as attribute_corpus
    from .sums.direct_attribution import LogitAttribution as LogitAttribution, logit_attribution as logit_attribution
    from .questions.erasure_curves import Curves as Curves, curves as curves
    from .questions.embeddings import (
        Contextual as Contextual, Neighbour as Neighbour, analogy as analogy, contextual as contextual,
        distances as distances, neighbours as neighbours, project as project, static as static,
    )
    from .questions.evidence import effects as effects
    from .show.trace_page import to_html as to_html
    from .heads.faithfulness import measure_trust as measure_trust
    from .heads.alignment_fitting import fit_alignment as fit_alignment
    from .sums.flow_graph import ContributionGraph as ContributionGraph, contribution_graph as contribution_graph
    from ..passes.hooks import Head as Head, all_heads as all_heads
    from .records.intervals import Estimate as Estimate, agreement as agreement
    from .changes.interventions import (
        Recording as Recording, ablate as ablate, mean_outputs as mean_outputs, patch as patch, record as record,
        steer as steer,
    )
    from .changes.word_mapping import WordMapping as WordMapping, word_mapping as word_mapping
    from .questions.logits import LogitLens as LogitLens, logit_lens as logit_lens
    from .show.maps import Picture as Picture, picture as picture
    from .changes.means import head_means as head_means
    from .sums.neurons import (
        Activation as Activation, Neuron as Neuron, top_activations as top_activations, top_neurons as top_neurons,
    )
    from .changes.path_patching import (
        attribution_patching as attribution_patching, exact_patching as exact_patching, path_patch as path_patch,
    )
    from .show.plot import save_plot as save_plot
    from .data.probabilities import Outlook as Outlook, outlook as outlook, with_calibration as with_calibration
    from .records.roles import GoldPair as GoldPair, GoldPronoun as GoldPronoun
    from .data.summary import sink_shares as sink_shares, summarise as summarise
    from .show.terminal import to_terminal as to_terminal
    from .trace import Trace as Trace
    from .data.trace_data import Candidate as Candidate
    from .tracing import trace_hypotheses as trace_hypotheses, trace_texts as trace_texts
    from .records.trust import Trust as Trust
    from .comparisons.notebook_view import compare as compare
    from .comparisons.two_models import Comparison as Comparison
    from .data.view_names import VIEWS as VIEWS
    from .views.add_views import add_views as add_views
    from .questions.what_if import WhatIf as WhatIf
    # isort: on

_NAMES_IN = {
    ".tokenizer.encoding": "encode_source encode_target",  # beside this folder
    "changes.activations":
        "Activations At Donor Mean Noise SteeringVector Zero activation_names intervene run_with_cache",
    "heads.alignment_choice": "AlignmentChoice",
    "questions.attribution": "Attribution attribute",
    "questions.beam_search_tree": "BeamTree beam_tree",
    "data.word_maps": "Unit WordMap word_map",
    "records.calibration": "Calibration Calibrator",
    "changes.choices": "Choice MinimalPairs margins",
    "sums.circuits": "Circuit Part SentencePair find_circuit",
    "corpora.traced_corpus": "Corpus",
    "corpora.corpus_tracing": "trace_corpus",
    "questions.attributed_corpus": "attribute_corpus",
    "sums.direct_attribution": "LogitAttribution logit_attribution",
    "questions.erasure_curves": "Curves curves",
    "questions.embeddings": "Contextual Neighbour analogy contextual distances neighbours project static",
    "questions.evidence": "effects",
    "show.trace_page": "to_html",
    "heads.faithfulness": "measure_trust",
    "heads.alignment_fitting": "fit_alignment",
    "sums.flow_graph": "ContributionGraph contribution_graph",
    ".passes.hooks": "Head all_heads",
    "records.intervals": "Estimate agreement",
    "changes.interventions": "Recording ablate mean_outputs patch record steer",
    "changes.word_mapping": "WordMapping word_mapping",
    "questions.logits": "LogitLens logit_lens",
    "show.maps": "Picture picture",
    "changes.means": "head_means",
    "changes.path_patching": "attribution_patching exact_patching path_patch",
    "sums.neurons": "Activation Neuron top_activations top_neurons",
    "show.plot": "save_plot",
    "data.probabilities": "Outlook outlook with_calibration",
    "records.roles": "GoldPair GoldPronoun",
    "data.summary": "sink_shares summarise",
    "show.terminal": "to_terminal",
    "trace": "Trace",
    "data.trace_data": "Candidate",
    "tracing": "trace_hypotheses trace_texts",
    "records.trust": "Trust",
    "comparisons.notebook_view": "compare",
    "comparisons.two_models": "Comparison",
    "data.view_names": "VIEWS",
    "views.add_views": "add_views",
    "questions.what_if": "WhatIf",
}
_HOME_OF = {name: module for module, names in _NAMES_IN.items() for name in names.split()}
__all__ = [*_HOME_OF]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
