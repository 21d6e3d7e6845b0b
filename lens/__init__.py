"""Looking inside: the attention of every head while the model predicts exactly the translation shown.

A public name is imported on first use.  The names of the views need no library, and drawing needs no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # isort: off
    from ..tokenizer.encoding import encode_source as encode_source, encode_target as encode_target
    from .activations import (
        Activations as Activations, At as At, Donor as Donor, Mean as Mean, Noise as Noise,
        SteeringVector as SteeringVector, Zero as Zero, activation_names as activation_names, intervene as intervene,
        run_with_cache as run_with_cache,
    )
    from .alignment_choice import AlignmentChoice as AlignmentChoice
    from .attribution import Attribution as Attribution, attribute as attribute
    from .beam_search_tree import BeamTree as BeamTree, beam_tree as beam_tree
    from .by_words import Unit as Unit, WordMap as WordMap, word_map as word_map
    from .calibration import Calibration as Calibration, Calibrator as Calibrator
    from .choices import Choice as Choice, MinimalPairs as MinimalPairs, margins as margins
    from .circuits import Circuit as Circuit, Part as Part, SentencePair as SentencePair, find_circuit as find_circuit
    from .corpus import Corpus as Corpus
    from .corpus_tracing import trace_corpus as trace_corpus
    from .direct_attribution import LogitAttribution as LogitAttribution, logit_attribution as logit_attribution
    from .erasure_curves import Curves as Curves, curves as curves
    from .embeddings import (
        Contextual as Contextual, Neighbour as Neighbour, analogy as analogy, contextual as contextual,
        distances as distances, neighbours as neighbours, project as project, static as static,
    )
    from .evidence import effects as effects
    from .explorer import to_html as to_html
    from .faithfulness import measure_trust as measure_trust
    from .alignment_fitting import fit_alignment as fit_alignment
    from .flow_graph import ContributionGraph as ContributionGraph, contribution_graph as contribution_graph
    from ..passes.hooks import Head as Head, all_heads as all_heads
    from .intervals import Estimate as Estimate, agreement as agreement
    from .interventions import (
        Recording as Recording, ablate as ablate, mean_outputs as mean_outputs, patch as patch, record as record,
        steer as steer,
    )
    from .joined_words import WordMapping as WordMapping, word_mapping as word_mapping
    from .logits import LogitLens as LogitLens, logit_lens as logit_lens
    from .maps import Picture as Picture, picture as picture
    from .means import head_means as head_means
    from .neurons import (
        Activation as Activation, Neuron as Neuron, top_activations as top_activations, top_neurons as top_neurons,
    )
    from .path_patching import (
        attribution_patching as attribution_patching, exact_patching as exact_patching, path_patch as path_patch,
    )
    from .plot import save_plot as save_plot
    from .probabilities import Outlook as Outlook, outlook as outlook, with_calibration as with_calibration
    from .roles import GoldPair as GoldPair, GoldPronoun as GoldPronoun
    from .summary import sink_shares as sink_shares, summarise as summarise
    from .terminal import to_terminal as to_terminal
    from .trace import Trace as Trace
    from .trace_data import Candidate as Candidate
    from .tracing import trace_hypotheses as trace_hypotheses, trace_texts as trace_texts
    from .trust import Trust as Trust
    from .notebook_view import compare as compare
    from .two_models import Comparison as Comparison
    from .views import VIEWS as VIEWS, add_views as add_views
    from .what_if import WhatIf as WhatIf
    # isort: on

_NAMES_IN = {
    ".tokenizer.encoding": "encode_source encode_target",  # beside this folder
    "activations": "Activations At Donor Mean Noise SteeringVector Zero activation_names intervene run_with_cache",
    "alignment_choice": "AlignmentChoice",
    "attribution": "Attribution attribute",
    "beam_search_tree": "BeamTree beam_tree",
    "by_words": "Unit WordMap word_map",
    "calibration": "Calibration Calibrator",
    "choices": "Choice MinimalPairs margins",
    "circuits": "Circuit Part SentencePair find_circuit",
    "corpus": "Corpus",
    "corpus_tracing": "trace_corpus",
    "direct_attribution": "LogitAttribution logit_attribution",
    "erasure_curves": "Curves curves",
    "embeddings": "Contextual Neighbour analogy contextual distances neighbours project static",
    "evidence": "effects",
    "explorer": "to_html",
    "faithfulness": "measure_trust",
    "alignment_fitting": "fit_alignment",
    "flow_graph": "ContributionGraph contribution_graph",
    ".passes.hooks": "Head all_heads",
    "intervals": "Estimate agreement",
    "interventions": "Recording ablate mean_outputs patch record steer",
    "joined_words": "WordMapping word_mapping",
    "logits": "LogitLens logit_lens",
    "maps": "Picture picture",
    "means": "head_means",
    "path_patching": "attribution_patching exact_patching path_patch",
    "neurons": "Activation Neuron top_activations top_neurons",
    "plot": "save_plot",
    "probabilities": "Outlook outlook with_calibration",
    "roles": "GoldPair GoldPronoun",
    "summary": "sink_shares summarise",
    "terminal": "to_terminal",
    "trace": "Trace",
    "trace_data": "Candidate",
    "tracing": "trace_hypotheses trace_texts",
    "trust": "Trust",
    "notebook_view": "compare",
    "two_models": "Comparison",
    "views": "VIEWS add_views",
    "what_if": "WhatIf",
}
_HOME_OF = {name: module for module, names in _NAMES_IN.items() for name in names.split()}
__all__ = [*_HOME_OF]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
